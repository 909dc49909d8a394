import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deliveryId } from '../../services/domain/ids.ts';
import { CursorInvalid } from '../../services/store/change.ts';
import {
  cancelled,
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  requested,
  routed,
  START,
} from '../support/records/journal-entries.ts';
import type { StoreUnderTest } from './store-place.ts';

const MERCHANT = 'a-merchant';
const FOR_EVER = new AbortController().signal;

export function logContract(test: StoreUnderTest): void {
  describe('the delivery log', () => {
    pages(test);
    waiting(test);
    retention(test);
    routedAgain(test);
  });
}

function pages(test: StoreUnderTest): void {
  it('lists the newest first, filtered, page by page, stable while deliveries come', async () => {
    const endpointId = randomUUID();
    const apply = journalOf(test.store);
    const events = Array.from({ length: 9 }, (_, n) =>
      eventNumber(MERCHANT, n, n % 3 === 0 ? { type: 'KYC', subType: 'KYC_PENDING' } : {}),
    );
    await apply(...events.map((event) => routed(event, [endpointId, randomUUID()])));
    await apply(...events.slice(0, 3).map((event) => delivered(head(event, endpointId))));
    await apply(...events.slice(3, 5).map((event) => failed(head(event, endpointId))));
    const { lists } = test.store;
    const list = async (options: Partial<Parameters<typeof lists.deliveries>[1]>) => {
      const found = await lists.deliveries(MERCHANT, { endpointId, limit: 100, ...options });
      return found.records.map(({ eventId }) => events.findIndex((event) => event.eventId === eventId));
    };
    expect(await list({})).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(await list({ status: 'delivered' })).toEqual([2, 1, 0]);
    expect(await list({ status: 'failed' })).toEqual([4, 3]);
    expect(await list({ status: 'pending', type: 'KYC' })).toEqual([6]);
    expect(await list({ since: START + 2 * HOUR_MS, until: START + 5 * HOUR_MS })).toEqual([4, 3, 2]);
    const first = await lists.deliveries(MERCHANT, { endpointId, limit: 4 });
    await apply(routed(eventNumber(MERCHANT, 20), [endpointId]));
    expect(await list({ after: first.next ?? '' })).toEqual([4, 3, 2, 1, 0]);
    expect(await list({ after: first.next ?? '', limit: 2 })).toEqual([4, 3]);
    await expect(list({ after: 'not a cursor' })).rejects.toBeInstanceOf(CursorInvalid);
  });

  it('pages through deliveries of one millisecond without losing or repeating any', async () => {
    const endpointId = randomUUID();
    const events = Array.from({ length: 10 }, (_, n) => eventNumber(MERCHANT, n, { occurredAt: START }));
    await journalOf(test.store)(...events.map((event) => routed(event, [endpointId])));
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await test.store.lists.deliveries(MERCHANT, {
        endpointId,
        limit: 3,
        ...(after && { after }),
      });
      seen.push(...page.records.map(({ eventId }) => eventId));
      if (page.next === null) break;
      after = page.next;
    }
    expect(seen).toEqual(events.map(({ eventId }) => eventId).reverse());
  });

  it("never shows another merchant's or another endpoint's delivery", async () => {
    const [endpointId, otherId] = [randomUUID(), randomUUID()];
    const event = eventNumber(MERCHANT, 1);
    const id = deliveryId(event.eventId, endpointId);
    await journalOf(test.store)(routed(event, [endpointId, otherId]));
    const { log } = test.store;
    expect(await log.delivery(MERCHANT, endpointId, id)).toBeDefined();
    expect(await log.delivery('another', endpointId, id)).toBeUndefined();
    expect(await log.delivery(MERCHANT, otherId, id)).toBeUndefined();
    expect((await test.store.lists.deliveries('another', { endpointId, limit: 10 })).records).toEqual([]);
  });
}

function waiting(test: StoreUnderTest): void {
  const setUp = (trigger: 'test' | 'live' = 'test') => {
    const event = eventNumber(MERCHANT, 1);
    const asked = head(event, randomUUID(), { trigger, attemptsMax: 1, deliveryId: randomUUID() });
    return { asked, apply: journalOf(test.store), wait: test.store.log.waitForAttempt.bind(test.store.log) };
  };

  it('wakes the waiter for an attempt when it is recorded or cancelled, or already was', async () => {
    const { asked, apply, wait } = setUp();
    const early = wait(asked.deliveryId, FOR_EVER);
    await apply(requested(asked, new Uint8Array(2)));
    const middle = wait(asked.deliveryId, FOR_EVER);
    await apply(delivered(asked));
    expect(await Promise.all([early, middle, wait(asked.deliveryId, FOR_EVER)])).toEqual([true, true, true]);
    const other = { ...asked, deliveryId: randomUUID() };
    const ended = wait(other.deliveryId, FOR_EVER);
    await apply(cancelled(other));
    expect(await ended).toBe(true);
  });

  it('knows a delivery from the moment it is recorded, also after a crash', async () => {
    const { asked, apply } = setUp();
    const isRecorded = () => test.store.log.isRecorded(asked.deliveryId, START);
    expect(await isRecorded()).toBe(false);
    await apply(requested(asked, new Uint8Array(2)));
    expect(await isRecorded()).toBe(true);
    await test.crashAndReopen();
    expect(await isRecorded()).toBe(true);
  });

  it('stops waiting when the signal fires or the store closes', async () => {
    const { asked, apply, wait } = setUp();
    await apply(requested(asked, new Uint8Array(2)));
    const controller = new AbortController();
    const waited = wait(asked.deliveryId, controller.signal);
    controller.abort();
    expect(await waited).toBe(false);
    expect(await wait(asked.deliveryId, AbortSignal.abort())).toBe(false);
    const open = wait(asked.deliveryId, FOR_EVER).catch(() => false);
    await test.reopen();
    expect(await open).toBe(false);
  });
}

function retention(test: StoreUnderTest): void {
  it('does not restore what was deleted, and its position never decreases', async () => {
    const endpointId = randomUUID();
    const events = [1, 2, 3].map((n) => eventNumber(MERCHANT, n));
    const entries = events.map((event) => routed(event, [endpointId]));
    const { log } = test.store;
    await log.applyJournal([{ partition: 'p', first: 1, last: 2, entries: entries.slice(0, 2) }]);
    while ((await log.retain(Number.MAX_SAFE_INTEGER, 100)) > 0);
    await log.applyJournal([{ partition: 'p', first: 1, last: 1, entries: entries.slice(0, 1) }]);
    expect(await log.positionOf('p')).toBe(2);
    await log.applyJournal([{ partition: 'p', first: 1, last: 3, entries }]);
    const list = (await test.store.lists.deliveries(MERCHANT, { endpointId, limit: 10 })).records;
    expect(list.map(({ eventId }) => eventId)).toEqual([events[2]?.eventId]);
  });

  it('deletes old deliveries, in steps, and keeps an event that a younger delivery needs', async () => {
    const endpointId = randomUUID();
    const events = Array.from({ length: 6 }, (_, n) => eventNumber(MERCHANT, n));
    const [first, second] = events;
    if (!first || !second) return;
    const apply = journalOf(test.store);
    await apply(
      ...events.flatMap((event) => [routed(event, [endpointId]), delivered(head(event, endpointId))]),
    );
    const resend = head(first, endpointId, {
      ...{ trigger: 'manual', attemptsMax: 1, deliveryId: randomUUID() },
      acceptedAt: START + 100 * HOUR_MS,
    });
    await apply(requested(resend, new Uint8Array([1, 2])));
    const { log } = test.store;
    let deleted = 0;
    for (;;) {
      const step = await log.retain(START + 4 * HOUR_MS, 3);
      expect(step).toBeLessThanOrEqual(3);
      if (step === 0) break;
      deleted += step;
    }
    expect(deleted).toBeGreaterThan(0);
    const left = await test.store.lists.deliveries(MERCHANT, { endpointId, limit: 100 });
    expect(left.records.map(({ eventId }) => eventId)).toEqual(
      [first, events[5], events[4]].map((event) => event?.eventId),
    );
    expect(await log.event(MERCHANT, second.eventId)).toBeUndefined();
    // A resend is kept with its own body, whether or not its event is.
    const kept = await log.delivery(MERCHANT, endpointId, resend.deliveryId);
    expect([...(kept?.body ?? [])]).toEqual([1, 2]);
    const gone = deliveryId(second.eventId, endpointId);
    expect(await log.delivery(MERCHANT, endpointId, gone)).toBeUndefined();
    const store = await test.crashAndReopen();
    expect(await store.log.delivery(MERCHANT, endpointId, gone)).toBeUndefined();
    while ((await store.log.retain(START + 1000 * HOUR_MS, 100)) > 0);
    expect((await store.lists.deliveries(MERCHANT, { endpointId, limit: 100 })).records).toEqual([]);
    expect(await store.log.event(MERCHANT, first.eventId)).toBeUndefined();
  });
}

/** A crash makes an event be routed again, and its endpoint may have changed meanwhile. */
function routedAgain(test: StoreUnderTest): void {
  it('cancels a delivery without an attempt when the event is routed again, and not to its endpoint', async () => {
    const [gone, off, kept, tried] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const event = eventNumber(MERCHANT, 1);
    const apply = journalOf(test.store);
    await apply(routed(event, [gone, off, kept, tried]));
    await apply(failed(head(event, tried), 'connect_timeout'));
    await apply(routed(event, [kept], [off]));
    const found = async (endpointId: string) =>
      test.store.log.delivery(MERCHANT, endpointId, deliveryId(event.eventId, endpointId));
    expect(await found(gone)).toMatchObject({ status: 'cancelled', cancelReason: 'endpoint_deleted' });
    expect(await found(off)).toMatchObject({ status: 'cancelled', cancelReason: 'endpoint_changed' });
    expect(await found(kept)).toMatchObject({ status: 'pending', cancelReason: null });
    expect(await found(tried)).toMatchObject({ status: 'failed', attemptsMade: 1 });
    // Its attempt was made before the crash, and is recorded late.
    await apply(delivered(head(event, gone)));
    expect(await found(gone)).toMatchObject({ status: 'delivered', cancelReason: null });
  });
}
