import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type JournalEntry, PositionLost } from '../../../services/domain/journal.ts';
import type { Store } from '../../../services/store/store.ts';
import {
  createEndpoint,
  delivered,
  eventNumber,
  failed,
  head,
  journalOf,
  routed,
} from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';

/** Returns everything that merchants can read of an endpoint's deliveries. */
export async function everything(store: Store, endpointId: string) {
  const list = (await store.lists.deliveries(MERCHANT, { endpointId, limit: 100 })).records;
  const details = list.map(({ deliveryId }) => store.log.delivery(MERCHANT, endpointId, deliveryId));
  return {
    list,
    details: await Promise.all(details),
    endpoint: await store.endpoints.get(MERCHANT, endpointId),
  };
}

/** Entries that come again, or while others are missing. */
export function repeatedEntries(test: StoreUnderTest): void {
  it('drops a batch, or the part of one, that is already stored', async () => {
    const endpointId = randomUUID();
    await createEndpoint(test.store, MERCHANT, endpointId);
    const [one, two] = [eventNumber(MERCHANT, 1), eventNumber(MERCHANT, 2)];
    const entries = [routed(one, [endpointId]), failed(head(one, endpointId)), routed(two, [endpointId])];
    const more = delivered(head(one, endpointId, { attempt: 2 }));
    const { log } = test.store;
    expect(await log.positionOf('p')).toBeUndefined();
    await log.applyJournal([{ partition: 'p', first: 1, last: 3, entries }]);
    const before = await everything(test.store, endpointId);
    await log.applyJournal([{ partition: 'p', first: 1, last: 3, entries }]);
    const store = await test.crashAndReopen();
    await store.log.applyJournal([{ partition: 'p', first: 2, last: 3, entries: entries.slice(1) }]);
    expect(await everything(store, endpointId)).toEqual(before);
    expect(before.endpoint?.failureCount).toBe(1);
    await store.log.applyJournal([{ partition: 'p', first: 1, last: 4, entries: [...entries, more] }]);
    expect(await store.log.positionOf('p')).toBe(4);
    const after = await everything(store, endpointId);
    expect(after.list.map(({ status }) => status)).toEqual(['pending', 'delivered']);
    expect(after.endpoint?.failureCount).toBe(0);
  });

  it('drops stored entries where offsets do not follow one another by one', async () => {
    const endpointId = randomUUID();
    await createEndpoint(test.store, MERCHANT, endpointId);
    const one = eventNumber(MERCHANT, 1);
    const failures = [1, 2, 3].map((attempt) => failed(head(one, endpointId, { attempt })));
    const { log } = test.store;
    await log.applyJournal([
      { partition: 'p', first: 64, last: 65, positions: [64, 65], entries: failures.slice(0, 2) },
    ]);
    await log.applyJournal([
      { partition: 'p', first: 65, last: 128, positions: [65, 128], entries: failures.slice(1) },
    ]);
    expect(await log.positionOf('p')).toBe(128);
    expect((await everything(test.store, endpointId)).endpoint?.failureCount).toBe(3);
  });

  it('keeps nothing of a batch while it lacks entries before it', async () => {
    const endpointId = randomUUID();
    const entries = [1, 2, 3].map((n) => routed(eventNumber(MERCHANT, n), [endpointId]));
    const { log } = test.store;
    const [one, two, three] = entries.map((entry) => [entry]);
    if (!one || !two || !three) return;
    const lost = (after: number, position: { readonly first: number; readonly last: number }) =>
      expect(log.applyJournal([{ partition: 'p', after, ...position, entries: one }])).rejects.toThrow(
        PositionLost,
      );
    await lost(0, { first: 1, last: 1 });
    expect(await log.positionOf('p')).toBeUndefined();
    await log.applyJournal([{ partition: 'p', first: 1, last: 1, entries: one }]);
    await lost(2, { first: 3, last: 3 });
    expect(await log.positionOf('p')).toBe(1);
    await log.applyJournal([{ partition: 'p', after: 1, first: 2, last: 2, entries: two }]);
    await log.applyJournal([{ partition: 'p', after: 1, first: 2, last: 3, entries: [...two, ...three] }]);
    await lost(4, { first: 5, last: 5 });
    const { records } = await test.store.lists.deliveries(MERCHANT, { endpointId, limit: 10 });
    expect(records).toHaveLength(3);
  });

  it('records batches of several partitions together, or none of them', async () => {
    const endpointId = randomUUID();
    await createEndpoint(test.store, MERCHANT, endpointId);
    const [one, two] = [eventNumber(MERCHANT, 1), eventNumber(MERCHANT, 2)];
    const { log } = test.store;
    await log.applyJournal([
      { partition: 'p', first: 1, last: 1, entries: [delivered(head(one, endpointId))] },
      { partition: 'q', first: 4, last: 4, entries: [routed(one, [endpointId])] },
    ]);
    expect([await log.positionOf('p'), await log.positionOf('q')]).toEqual([1, 4]);
    const both = await everything(test.store, endpointId);
    expect(both.list.map(({ status, attemptsMade }) => [status, attemptsMade])).toEqual([['delivered', 1]]);
    const lost = log.applyJournal([
      { partition: 'p', first: 2, last: 2, after: 1, entries: [routed(two, [endpointId])] },
      { partition: 'q', first: 9, last: 9, after: 8, entries: [failed(head(two, endpointId))] },
    ]);
    await expect(lost).rejects.toThrow(PositionLost);
    expect([await log.positionOf('p'), await log.positionOf('q')]).toEqual([1, 4]);
    expect(await everything(test.store, endpointId)).toEqual(both);
  });

  it('keeps the first record of an attempt that a crash repeated, and counts it once', async () => {
    const endpointId = randomUUID();
    await createEndpoint(test.store, MERCHANT, endpointId);
    const event = eventNumber(MERCHANT, 1);
    const first = failed(head(event, endpointId), 'http_4xx');
    const apply = journalOf(test.store);
    await apply(routed(event, [endpointId]), first, failed(head(event, endpointId), 'tls_error'));
    await apply(delivered(head(event, endpointId)), routed(event, [endpointId]));
    const { details, endpoint } = await everything(test.store, endpointId);
    expect(details).toHaveLength(1);
    expect(details[0]).toMatchObject({ status: 'failed', lastFailureCode: 'http_4xx', attemptsMade: 1 });
    expect(details[0]?.attempts).toHaveLength(1);
    expect(endpoint?.failureCount).toBe(1);
  });

  it('keeps an attempt that comes before its routing in one batch', async () => {
    const endpointId = randomUUID();
    const event = eventNumber(MERCHANT, 1);
    const last = failed(head(event, endpointId, { attempt: 7 }));
    await journalOf(test.store)(last, routed(event, [endpointId]));
    const { details } = await everything(test.store, endpointId);
    expect(details).toMatchObject([{ status: 'exhausted', attemptsMade: 7, attempts: [{ number: 7 }] }]);
  });

  it('has the same result whatever the order and the batches of the entries', async () => {
    const event = eventNumber(MERCHANT, 1);
    const entriesFor = (endpointId: string): JournalEntry[] => [
      routed(event, [endpointId]),
      failed(head(event, endpointId)),
      failed(head(event, endpointId, { attempt: 2 }), 'dns_error'),
      delivered(head(event, endpointId, { attempt: 3 })),
    ];
    const end = async (store: Store, endpointId: string) => {
      const [found] = (await everything(store, endpointId)).details;
      return { ...found, deliveryId: '', endpointId: '' };
    };
    const model = randomUUID();
    await journalOf(test.store)(...entriesFor(model));
    const expected = await end(test.store, model);
    let run = 0;
    const anyOrder = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 });
    await fc.assert(
      fc.asyncProperty(anyOrder, fc.integer({ min: 1, max: 4 }), async (order, size) => {
        const endpointId = randomUUID();
        run += 1;
        const apply = journalOf(test.store, `run ${run}`);
        const entries = entriesFor(endpointId);
        for (let at = 0; at < 4; at += size) {
          await apply(...order.slice(at, at + size).flatMap((index) => entries[index] ?? []));
        }
        expect(await end(test.store, endpointId)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });
}
