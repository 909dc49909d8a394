/**
 * What the SQLite store keeps in bulk: the indexes of its lists, and the contents of events. Readers see no difference
 * between what is in them and what is not yet.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { openConnection } from '../../../services/store/sqlite/connection.ts';
import { bodiesColumn } from '../../../services/store/sqlite/log/bodies-column.ts';
import { ContentReads, ContentWrites } from '../../../services/store/sqlite/log/contents.ts';
import { migrate } from '../../../services/store/sqlite/migrations/migrate.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../services/store/store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { eventNumber, journalOf, routed } from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';

const MERCHANT = 'a-merchant';
/** More than go into the indexes together, so that some rows are in them and some are not. */
const COUNT = 17_000;
let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hookrail-store-'));
  file = join(directory, 'store.db');
});
afterEach(() => rm(directory, { recursive: true }));

const open = (): Promise<Store> =>
  openSqliteStore({ file, clock: systemClock(), healthPolicy: TEST_POLICY, keyRing: TEST_RING });

/** Reads every page of a list. */
async function all<Each>(
  read: (after?: string) => Promise<{ readonly records: readonly Each[]; readonly next: string | null }>,
): Promise<Each[]> {
  const found: Each[] = [];
  for (let after: string | undefined; ; ) {
    const { records, next } = await read(after);
    found.push(...records);
    if (next === null) return found;
    after = next;
  }
}

/** Returns the ids of everything in the merchant's lists and feed, newest first. */
async function listed(store: Store, endpointId: string) {
  const page = (after?: string) => ({ limit: 1000, ...(after === undefined ? {} : { after }) });
  const deliveries = await all((after) => store.lists.deliveries(MERCHANT, page(after)));
  const own = await all((after) => store.lists.deliveries(MERCHANT, { endpointId, ...page(after) }));
  const events = await all((after) => store.lists.events(MERCHANT, page(after)));
  const feed: string[] = [];
  for (let after = '0', isMore = true; isMore; ) {
    const { entries, next } = await store.feed.read(MERCHANT, { after, limit: 1000 });
    for (const entry of entries) if (entry.kind === 'routed') feed.unshift(entry.delivery.eventId);
    isMore = next !== after;
    after = next;
  }
  return {
    deliveries: deliveries.map((each) => each.deliveryId),
    own: own.map((each) => each.deliveryId),
    events: events.map(({ event }) => event.eventId),
    feed,
  };
}

describe('the lists', () => {
  it('have every row once and in order, in the index or not, and after its number was used before', {
    timeout: 120_000,
  }, async () => {
    const [endpointId, other] = [randomUUID(), randomUUID()];
    let store = await open();
    const record = async (partition: string, from: number, count: number) => {
      const apply = journalOf(store, partition);
      const events = Array.from({ length: count }, (_, n) => eventNumber(MERCHANT, from + n));
      for (let at = 0; at < count; at += 3000) {
        const some = events.slice(at, at + 3000);
        await apply(...some.map((event) => routed(event, [event === events[0] ? other : endpointId])));
      }
      return events.reverse();
    };
    const expectListed = async (events: Awaited<ReturnType<typeof record>>) => {
      const ids = events.map((event) => event.eventId);
      const first = events.at(-1);
      const of = (event: (typeof events)[0]) =>
        deliveryId(event.eventId, event === first ? other : endpointId);
      const own = events.slice(0, -1).map(of);
      expect(await listed(store, endpointId)).toEqual({
        deliveries: events.map(of),
        own,
        events: ids,
        feed: ids,
      });
    };
    const events = await record('first', 0, COUNT);
    await expectListed(events);
    while ((await store.log.retain(Number.MAX_SAFE_INTEGER, 5000)) > 0);
    while ((await store.feed.retain(Number.MAX_SAFE_INTEGER, 2000)) > 0);
    expect(await store.lists.events(MERCHANT, { limit: 10 })).toEqual({ records: [], next: null });
    await store.close();
    store = await open();
    const later = await record('second', COUNT, 100);
    const found = await listed(store, endpointId);
    expect(found.deliveries).toHaveLength(100);
    expect(found.events).toEqual(later.map((event) => event.eventId));
    await store.close();
  });
});

describe('the contents of events', () => {
  it('are removed from their group, and no others with them', () => {
    const db = openConnection(file, 'write');
    migrate(db, file);
    const writes = new ContentWrites(db);
    const reads = new ContentReads(db);
    const data = (n: number) => Buffer.from(`{"n":${n}}`);
    const bodies = (n: number) => [{ apiVersion: '2.3.8', body: Buffer.alloc(n % 7, n) }] as const;
    const content = (n: number) => ({ data: data(n), bodies: bodiesColumn(bodies(n)) });
    // Numbers between them belong to events whose content is in their rows.
    const events = Array.from({ length: 100 }, (_, n) => 10 + 3 * n);
    for (const event of events) writes.add(event, data(event), bodies(event));
    writes.flush();
    const removed = events.filter((event, n) => n % 5 === 0 || (event > 150 && event < 260));
    writes.remove([...removed, 11, 9]);
    for (const event of events)
      expect(reads.of(event)).toEqual(removed.includes(event) ? undefined : content(event));
    expect(reads.of(11)).toBeUndefined();
    writes.remove(events);
    expect(db.prepare('SELECT count(*) FROM content').pluck().get()).toBe(0);
    db.close();
  });
});
