/** Guarantee: `store copy` moves a SQLite store to PostgreSQL while the service runs, and the copy is the same store. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import type { JournalEntry } from '../../../services/domain/journal.ts';
import type { Store } from '../../../services/store/store.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import {
  createEndpoint,
  delivered,
  eventNumber,
  HOUR_MS,
  head,
  OPERATOR,
  parked,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import { copyPlace } from './copy-place.ts';
import {
  ENDPOINTS,
  ENTITIES,
  entriesAfter,
  entriesBefore,
  entriesLater,
  MERCHANTS,
  manageAfter,
  manageBefore,
} from './filled-store.ts';
import { expectSame, wholeStore } from './whole-store.ts';

/** Hundreds of tables are made in each test. */
vi.setConfig({ testTimeout: 120_000 });

const PARTITION = 'journal-0';
const NOW = START + 100 * HOUR_MS;
const [MERCHANT] = MERCHANTS;
/** Batches that a writer records during each part of a copy. */
const BATCHES = 15;

await describeWithPostgres('a copy of a SQLite store to PostgreSQL', (createDatabase) => {
  const place = () => copyPlace(createDatabase);

  it('is the same store, also after the journal that came since the snapshot', async () => {
    const { sqlite, postgres, copy } = await place();
    let from = await sqlite();
    await manageBefore(from);
    await record(from, entriesBefore());
    expect(await copy()).toMatchObject({ kind: 'log', log: { deliveries: expect.any(Number) } });
    await record(from, entriesAfter());
    await manageAfter(from);
    expect(await copy()).toMatchObject({ kind: 'log', log: null });
    await from.close();
    expect(await copy()).toMatchObject({
      ...{ kind: 'all', compared: { merchants: 3, keys: 3, endpoints: 7 } },
      replays: [expect.any(String)],
    });
    from = await sqlite();
    const to = await postgres();
    expect(await to.log.positionOf(PARTITION)).toBe(entriesBefore().length);
    // As the recorder reads it: from the position of the log.
    await record(to, entriesAfter(), entriesBefore().length);
    expectSame(await whole(from), await whole(to));
    const position = entriesBefore().length + entriesAfter().length;
    for (const store of [from, to]) {
      await record(store, entriesLater(), position);
      await createEndpoint(store, MERCHANT, '00000000-0000-4000-8000-000000000009', {}, NOW);
    }
    expectSame(await whole(from), await whole(to));
    expect((await to.endpoints.get(MERCHANT, ENDPOINTS.steady))?.status).toBe('auto_disabled');
  });

  it('keeps the cursors of lists, of the feed and of a replay', async () => {
    const { sqlite, postgres, copy } = await place();
    const from = await sqlite();
    await manageBefore(from);
    await record(from, entriesBefore());
    await manageAfter(from);
    const page = await from.lists.deliveries(MERCHANT, { limit: 4 });
    const events = await from.lists.events(MERCHANT, { limit: 2 });
    const feed = await from.feed.read(MERCHANT, { after: '0', limit: 5 });
    const following = async (store: Store) => {
      const [replay] = await store.replays.running();
      if (!replay) throw new Error('no replay runs');
      return {
        deliveries: (await store.lists.deliveries(MERCHANT, { limit: 9, after: page.next ?? '' })).records,
        events: (await store.lists.events(MERCHANT, { limit: 9, after: events.next ?? '' })).records,
        feed: (await store.feed.read(MERCHANT, { after: feed.next, limit: 100 })).entries,
        missed: (await store.replays.missed(replay, replay.place, 100)).events,
      };
    };
    const expected = await following(from);
    const newest = (await from.feed.read(MERCHANT, { after: feed.next, limit: 100 })).next;
    await from.close();
    await copy();
    const to = await postgres();
    const found = await following(to);
    expect(found.deliveries.length * found.events.length * found.feed.length).toBeGreaterThan(0);
    expectSame(expected, found);
    // What is recorded from now on comes behind every position that a reader may have.
    await record(to, entriesAfter());
    expect((await to.feed.read(MERCHANT, { after: newest, limit: 100 })).entries).not.toEqual([]);
  });

  it('goes on where it was cut off', async () => {
    const { sqlite, postgres, copy, migrate, database } = await place();
    const from = await sqlite();
    await manageBefore(from);
    const many = Array.from({ length: 6000 }, (_, n) =>
      eventNumber(MERCHANT, 3 + (n % 3), { eventId: uuidOf(n) }),
    );
    await record(
      from,
      many.map((event) => routed(event, [ENDPOINTS.good])),
    );
    await migrate();
    for (const table of ['event', 'delivery', 'feed']) {
      await database.query(`ALTER TABLE meta ADD CONSTRAINT cut CHECK (name <> 'copy' OR
        (value::json -> 'reached' ->> '${table}')::int <= 5000)`);
      await expect(copy()).rejects.toThrow('cut');
      await database.query('ALTER TABLE meta DROP CONSTRAINT cut');
    }
    await from.close();
    await copy();
    for (const table of ['event', 'delivery', 'feed']) {
      const id = table === 'feed' ? 'seq' : `${table}_id`;
      const text = `SELECT count(*)::int AS rows, count(DISTINCT ${id})::int AS ids FROM ${table}
        WHERE created_at >= ${START + 3 * HOUR_MS}`;
      expect(await database.query(text)).toEqual([{ rows: 6000, ids: 6000 }]);
    }
    const [one, other] = [await sqlite(), await postgres()];
    const newest = (store: Store) => store.lists.deliveries(MERCHANT, { limit: 1000 });
    expectSame(await newest(one), await newest(other));
  });

  it('carries out again, before the service starts, what was erased since the snapshot', async () => {
    const { sqlite, postgres, copy } = await place();
    const from = await sqlite();
    await manageBefore(from);
    const event = eventNumber(MERCHANT, 1, { entityId: ENTITIES.late });
    // The second of its deliveries has the number of the event to erase.
    const other = eventNumber(MERCHANT, 1, { eventId: uuidOf(1) });
    await record(from, [
      routed(other, [ENDPOINTS.good, ENDPOINTS.moved]),
      delivered(head(other, ENDPOINTS.moved)),
      routed(event, [ENDPOINTS.good]),
    ]);
    await copy();
    await manageAfter(from);
    await from.close();
    await copy();
    const to = await postgres();
    const read = (id: string) => to.log.delivery(MERCHANT, ENDPOINTS.good, id);
    const id = deliveryId(event.eventId, ENDPOINTS.good);
    expect(await read(id)).toMatchObject({ body: null, bodyRemoved: true });
    expect((await to.log.event(MERCHANT, event.eventId))?.event.data).toBeNull();
    const second = deliveryId(other.eventId, ENDPOINTS.moved);
    const kept = await to.log.delivery(MERCHANT, ENDPOINTS.moved, second);
    expect(kept?.body).not.toBeNull();
    expect(kept?.attempts[0]?.response?.body).toHaveLength(4);
    expect(await to.erasures.unfinished()).toEqual([]);
  });

  it('keeps no bodies that were removed by age, and the rest of their rows', async () => {
    const { sqlite, postgres, copy } = await place();
    let from = await sqlite();
    await manageBefore(from);
    await record(from, [...entriesBefore(), ...entriesAfter()]);
    for (let left = 1; left > 0; ) left = await from.log.removeBodies(START + 6 * HOUR_MS, 100);
    for (let left = 1; left > 0; ) left = await from.log.retain(START + 2 * HOUR_MS, 100);
    for (let left = 1; left > 0; ) left = await from.feed.retain(START + 2 * HOUR_MS, 100);
    await from.close();
    expect(await copy()).toMatchObject({ kind: 'all' });
    from = await sqlite();
    expectSame(await whole(from), await whole(await postgres()));
  });

  it('is made in one go where no service runs, and leaves the SQLite store as it is', async () => {
    const { sqlite, copy, file, options } = await place();
    const from = await sqlite();
    await manageBefore(from);
    await record(from, entriesBefore());
    await from.close();
    const before = hashOf(file);
    expect(await copy()).toMatchObject({ kind: 'all' });
    expect(hashOf(file)).toBe(before);
    expect(existsSync(options.snapshotFile)).toBe(false);
  });

  it('takes the rest anew when the service has run on SQLite in between', async () => {
    const { sqlite, postgres, copy } = await place();
    let from = await sqlite();
    await manageBefore(from);
    await record(from, entriesBefore());
    await from.close();
    await copy();
    from = await sqlite();
    await from.endpoints.update(
      ...([MERCHANT, ENDPOINTS.good, { description: 'since' }, { at: NOW, actor: OPERATOR }] as const),
    );
    await from.close();
    expect(await copy()).toMatchObject({ kind: 'all' });
    const to = await postgres();
    expect((await to.endpoints.get(MERCHANT, ENDPOINTS.good))?.description).toBe('since');
  });

  it('gets what a writer records meanwhile from the journal only', async () => {
    const { sqlite, postgres, copy } = await place();
    const from = await sqlite();
    await manageBefore(from);
    await record(from, entriesBefore());
    const entries: JournalEntry[] = [];
    let writing = Promise.resolve();
    /** Writes while the part of the copy that is told of runs. */
    const tell = () => {
      for (let batch = 0; batch < BATCHES; batch += 1)
        writing = writing.then(() => {
          const event = eventNumber(MERCHANT, 50, { eventId: uuidOf(entries.length) });
          const added = [routed(event, [ENDPOINTS.good]), parked(head(event, ENDPOINTS.good), NOW)];
          entries.push(...added);
          return record(from, added);
        });
    };
    await copy({ tell });
    await writing;
    await from.close();
    await copy();
    const [one, to] = [await sqlite(), await postgres()];
    const position = (await to.log.positionOf(PARTITION)) ?? 0;
    const all = [...entriesBefore(), ...entries];
    expect(position).toBeLessThan(all.length);
    await record(to, all.slice(position), position);
    expectSame(await whole(one), await whole(to));
  });
});

function whole(store: Store) {
  return wholeStore(store, [...MERCHANTS, 'c-merchant'], NOW);
}

/** Records entries as the next batch of the partition, behind `after`. */
async function record(store: Store, entries: readonly JournalEntry[], after?: number): Promise<void> {
  const begin = after ?? (await store.log.positionOf(PARTITION)) ?? 0;
  const position = { partition: PARTITION, first: begin + 1, last: begin + entries.length };
  await store.log.applyJournal([{ ...position, entries }]);
}

function uuidOf(n: number): string {
  return `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`;
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
