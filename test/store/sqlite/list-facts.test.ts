/** Guarantee: a list shows each delivery as it is now, whatever it was when the list's index was filled. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DomainEvent, EventType } from '../../../services/domain/event.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import type { DeliveryStatus } from '../../../services/store/store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { delivered, eventNumber, head, journalOf, routed } from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';

/** Filling the log takes a while where other tests run beside it. */
const FILLED_MS_MAX = 120_000;
const MERCHANT = 'a-merchant';

it('lists deliveries by status and type, whatever they were when they went into the index', {
  timeout: FILLED_MS_MAX,
}, async () => {
  const endpointId = randomUUID();
  const directory = await mkdtemp(join(tmpdir(), 'hookrail-store-'));
  const store = await openSqliteStore({
    file: join(directory, 'store.db'),
    ...{ clock: systemClock(), healthPolicy: TEST_POLICY, keyRing: TEST_RING },
  });
  const apply = journalOf(store);
  const count = 18_000;
  const [waits, arrivesLater, newest] = [10, 20, count - 1];
  const events = Array.from({ length: count }, (_, n) =>
    eventNumber(MERCHANT, n, n % 6000 === 30 ? { type: 'KYC', subType: 'KYC_PENDING' } : {}),
  );
  for (let at = 0; at < count; at += 2000) {
    const batch = events.slice(at, at + 2000);
    await apply(...batch.map((event) => routed(event, [endpointId])));
    const left = [waits, arrivesLater, newest].map((n) => events[n]);
    const arrived = batch.filter((event) => !left.includes(event));
    await apply(...arrived.map((event) => delivered(head(event, endpointId))));
  }
  type Listed = { readonly records: readonly { readonly id: string }[]; readonly next: string | null };
  /** Returns the numbers of the events on all pages. */
  const everyPage = async (read: (after: { readonly after?: string }) => Promise<Listed>) => {
    const found: number[] = [];
    for (let after: string | undefined, isDone = false; !isDone; isDone = after === undefined) {
      const page = await read(after === undefined ? {} : { after });
      found.push(...page.records.map(({ id }) => numbers.get(id) ?? -1));
      after = page.next ?? undefined;
    }
    return found;
  };
  const listed = (filter: { readonly status?: DeliveryStatus; readonly type?: EventType }) =>
    everyPage(async (after) => {
      const { records, next } = await store.lists.deliveries(MERCHANT, { ...filter, ...after, limit: 900 });
      return { records: records.map(({ eventId: id }) => ({ id })), next };
    });
  const numbers = new Map(events.map(({ eventId }, n) => [eventId, n]));
  const kyc = [12_030, 6030, 30];
  expect(await listed({ status: 'pending' })).toEqual([newest, arrivesLater, waits]);
  expect(await listed({ type: 'KYC' })).toEqual(kyc);
  await apply(delivered(head(events[arrivesLater] as DomainEvent, endpointId)));
  expect(await listed({ status: 'pending' })).toEqual([newest, waits]);
  expect(await listed({ status: 'delivered', type: 'KYC' })).toEqual(kyc);
  expect(await listed({ status: 'pending', type: 'KYC' })).toEqual([]);
  expect((await listed({ status: 'delivered' })).length).toBe(count - 2);
  const ofType = everyPage(async (after) => {
    const { records, next } = await store.lists.events(MERCHANT, { type: 'KYC', ...after, limit: 50 });
    return { records: records.map(({ event }) => ({ id: event.eventId })), next };
  });
  expect(await ofType).toEqual(kyc);
  await store.close();
  await rm(directory, { recursive: true });
});
