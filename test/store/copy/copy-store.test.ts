/** Guarantee: `store copy` makes of a SQLite store the same store on PostgreSQL, and finds a row that differs. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
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

await describeWithPostgres('a copy of a SQLite store to PostgreSQL', (createDatabase) => {
  const place = () => copyPlace(createDatabase);

  it('is the same store, and goes on as the same store', async () => {
    const { sqlite, postgres, copy } = await place();
    let from = await sqlite();
    await fillAll(from);
    await from.close();
    expect(await copy()).toMatchObject({
      rows: { merchant: 3, api_key: 3, endpoint: 8, erasure: 2, replay: 1 },
    });
    from = await sqlite();
    const to = await postgres();
    const position = entriesBefore().length + entriesAfter().length;
    expect(await to.log.positionOf(PARTITION)).toBe(position);
    expectSame(await whole(from), await whole(to));
    for (const store of [from, to]) {
      await record(store, entriesLater());
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

  it('begins the unfinished table anew when it was cut off, and no service starts on a part', async () => {
    const { sqlite, postgres, copy, migrate, database } = await place();
    const from = await sqlite();
    await fillAll(from);
    await from.close();
    await migrate();
    const told: string[] = [];
    const tell = (line: string) => told.push(line);
    for (const table of ['delivery', 'feed']) {
      await database.query(`ALTER TABLE meta ADD CONSTRAINT cut CHECK (name <> 'copy' OR
        NOT (value::jsonb -> 'tables' ? '${table}'))`);
      await expect(copy({ tell })).rejects.toThrow('cut');
      await expect(postgres()).rejects.toThrow('has not ended: run hookrail operator store copy again');
      await database.query('ALTER TABLE meta DROP CONSTRAINT cut');
    }
    await copy({ tell });
    expect(told.filter((line) => line.startsWith('event: copied'))).toHaveLength(1);
    expectSame(await whole(await sqlite()), await whole(await postgres()));
  });

  it('is compared row by row: a row that is changed, missing, added or exchanged is found', async () => {
    const { sqlite, postgres, copy, database } = await place();
    const from = await sqlite();
    await fillAll(from);
    await from.close();
    const { rows } = await copy();
    const [one, other] = ['min', 'max'].map((which) => `(SELECT ${which}(attempt_id) FROM attempt)`);
    const changes = {
      attempt: `UPDATE attempt SET duration_ms = CASE attempt_id WHEN ${one} THEN 2 ELSE 1 END
        WHERE attempt_id IN (${one}, ${other})`,
      audit: `UPDATE audit SET details = details || ' ' WHERE audit_id = 1`,
      body: `UPDATE body b SET bytes = (SELECT bytes FROM body WHERE kind = 2 AND bytes <> b.bytes LIMIT 1)
        WHERE owner = 1 AND kind = 2`,
      endpoint: `UPDATE endpoint SET deleted_at = NULL WHERE deleted_at IS NOT NULL`,
      feed: 'DELETE FROM feed WHERE seq = 1',
      merchant: `INSERT INTO merchant (merchant_id, name, state, sender_account_details, version)
        VALUES ('new', 'new', 'active', 0, 1)`,
    };
    for (const change of Object.values(changes)) await database.query(change);
    const error = await copy().then(String, String);
    expect(error).toContain('the copy differs from the SQLite store: ');
    expect(
      [...error.matchAll(/(\w+) \(\d+ rows, \d+ in PostgreSQL\)/g)].map(([, table]) => table).sort(),
    ).toEqual(Object.keys(changes));
    expect(error).toContain(`merchant (3 rows, 4 in PostgreSQL)`);
    await expect(postgres()).rejects.toThrow('has not ended');
    expect((await copy()).rows).toEqual(rows);
    expectSame(await whole(await sqlite()), await whole(await postgres()));
  });

  it('has bodies that an erasure removes without those of other deliveries', async () => {
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
    await from.close();
    await copy();
    const to = await postgres();
    await manageAfter(to);
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
    await copy();
    from = await sqlite();
    expectSame(await whole(from), await whole(await postgres()));
  });

  it('leaves the SQLite store as it is', async () => {
    const { sqlite, copy, file } = await place();
    const from = await sqlite();
    await fillAll(from);
    await from.close();
    const before = hashOf(file);
    await copy();
    expect(hashOf(file)).toBe(before);
  });

  it('copies the tables anew that differ after the service has run on SQLite in between', async () => {
    const { sqlite, postgres, copy } = await place();
    let from = await sqlite();
    await fillAll(from);
    await from.close();
    await copy();
    from = await sqlite();
    await from.endpoints.update(
      ...([MERCHANT, ENDPOINTS.good, { description: 'since' }, { at: NOW, actor: OPERATOR }] as const),
    );
    await from.close();
    const error = await copy().then(String, String);
    expect([...error.matchAll(/(\w+) \(/g)].map(([, table]) => table)).toEqual([
      ...['audit', 'endpoint', 'log_merchant', 'outbox', 'feed'],
    ]);
    await copy();
    const to = await postgres();
    expect((await to.endpoints.get(MERCHANT, ENDPOINTS.good))?.description).toBe('since');
  });
});

/** Fills a store with everything that one can have. */
async function fillAll(store: Store): Promise<void> {
  await manageBefore(store);
  await record(store, entriesBefore());
  await record(store, entriesAfter());
  await manageAfter(store);
}

function whole(store: Store) {
  return wholeStore(store, [...MERCHANTS, 'c-merchant'], NOW);
}

/** Records entries as the next batch of the partition. */
async function record(store: Store, entries: readonly JournalEntry[]): Promise<void> {
  const begin = (await store.log.positionOf(PARTITION)) ?? 0;
  const position = { partition: PARTITION, first: begin + 1, last: begin + entries.length };
  await store.log.applyJournal([{ ...position, entries }]);
}

function uuidOf(n: number): string {
  return `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`;
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
