import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import {
  bodyOf,
  cancelled,
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  parked,
  requested,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';
import { everything, repeatedEntries } from './store-journal-repeats.ts';

const MERCHANT = 'a-merchant';

export function journalContract(test: StoreUnderTest): void {
  describe('the journal in the store', () => {
    statuses(test);
    parking(test);
    repeatedEntries(test);
    requests(test);
  });
}

function statuses(test: StoreUnderTest): void {
  it('follows a delivery from pending through its attempts', async () => {
    const [endpointId, skippedId] = [randomUUID(), randomUUID()];
    const event = eventNumber(MERCHANT, 1);
    const id = deliveryId(event.eventId, endpointId);
    const apply = journalOf(test.store);
    const status = async () => (await test.store.log.delivery(MERCHANT, endpointId, id)) ?? null;
    expect(await status()).toBeNull();
    await apply(routed(event, [endpointId], [skippedId]));
    expect(await status()).toMatchObject({
      status: 'pending',
      attemptsMade: 0,
      attemptsMax: 7,
      createdAt: Math.floor(event.occurredAt + 2.25),
      nextAttemptAt: null,
    });
    const first = failed(head(event, endpointId), 'connect_timeout');
    await apply(first);
    expect(await status()).toMatchObject({
      status: 'failed',
      attemptsMade: 1,
      nextAttemptAt: first.startedAt + 3000,
      lastFailureCode: 'connect_timeout',
      lastResponseStatus: null,
    });
    const second = delivered(head(event, endpointId, { attempt: 2 }));
    await apply(second);
    const end = await status();
    expect(end).toMatchObject({
      status: 'delivered',
      attemptsMade: 2,
      nextAttemptAt: null,
      lastFailureCode: null,
    });
    expect(end?.attempts.map(({ number }) => number)).toEqual([1, 2]);
    const { startedAt, durationMs, signature, response } = second;
    expect(end?.attempts[1]).toMatchObject({ startedAt, durationMs, signature, failureCode: null });
    expect({ ...end?.attempts[1]?.response, body: [...(end?.attempts[1]?.response?.body ?? [])] }).toEqual({
      ...response,
      body: [...(response?.body ?? [])],
    });
    expect([...(end?.body ?? [])]).toEqual([...bodyOf(event)]);
    const traced = await test.store.log.event(MERCHANT, event.eventId);
    expect(traced?.event).toEqual(event);
    expect(traced?.routedAt).toBe(event.occurredAt + 5.5);
    expect(traced?.trace).toEqual(routed(event, [endpointId], [skippedId]).trace);
    expect(await test.store.log.event('another', event.eventId)).toBeUndefined();
  });

  it('ends exhausted, refused and cancelled deliveries with their reason', async () => {
    const endpointId = randomUUID();
    const [one, two, three] = [1, 2, 3].map((n) => eventNumber(MERCHANT, n));
    if (!one || !two || !three) return;
    await journalOf(test.store)(
      ...[one, two, three].map((event) => routed(event, [endpointId])),
      failed(head(one, endpointId, { attempt: 7 })),
      failed(head(two, endpointId), 'endpoint_gone'),
      cancelled(head(two, endpointId, { attempt: 2 })),
      failed(head(three, endpointId)),
      cancelled(head(three, endpointId, { attempt: 2 }), 'endpoint_disabled'),
    );
    const list = (await test.store.lists.deliveries(MERCHANT, { endpointId, limit: 10 })).records;
    expect(
      list.map(({ status, lastFailureCode, cancelReason }) => [status, lastFailureCode, cancelReason]),
    ).toEqual([
      ['cancelled', 'http_5xx', 'endpoint_disabled'],
      ['refused', 'endpoint_gone', null],
      ['exhausted', 'http_5xx', null],
    ]);
    for (const status of ['exhausted', 'refused', 'cancelled'] as const) {
      const own = await test.store.lists.deliveries(MERCHANT, { endpointId, status, limit: 10 });
      const all = await test.store.lists.deliveries(MERCHANT, { status, limit: 10 });
      expect([own, all].map(({ records }) => records.map((one) => one.status))).toEqual([[status], [status]]);
    }
  });
}

function parking(test: StoreUnderTest): void {
  it('shows why a delivery waits and when it is due, until it is attempted or cancelled', async () => {
    const endpointId = randomUUID();
    const [one, two, three] = [1, 2, 3].map((n) => eventNumber(MERCHANT, n));
    if (!one || !two || !three) return;
    const apply = journalOf(test.store);
    const shown = async () =>
      (await test.store.lists.deliveries(MERCHANT, { endpointId, limit: 10 })).records.map(
        ({ status, parkedReason, nextAttemptAt }) => [status, parkedReason, nextAttemptAt],
      );
    await apply(...[one, two, three].map((event) => routed(event, [endpointId])));
    await apply(failed(head(three, endpointId)));
    await apply(
      parked(head(one, endpointId), 5000),
      parked(head(two, endpointId), 6000, 'merchant_paused'),
      parked(head(three, endpointId, { attempt: 2 }), 7000),
    );
    expect(await shown()).toEqual([
      ['failed', 'endpoint_full', 7000],
      ['pending', 'merchant_paused', 6000],
      ['pending', 'endpoint_full', 5000],
    ]);
    await apply(parked(head(one, endpointId), 9000), delivered(head(three, endpointId, { attempt: 2 })));
    // An entry about an attempt that was already made changes nothing.
    await apply(parked(head(three, endpointId, { attempt: 2 }), 9999));
    await apply(cancelled(head(two, endpointId), 'endpoint_disabled'));
    expect(await shown()).toEqual([
      ['delivered', null, null],
      ['cancelled', null, null],
      ['pending', 'endpoint_full', 9000],
    ]);
  });
}

function requests(test: StoreUnderTest): void {
  it('keeps the exact body of a delivery whose event is not in the log', async () => {
    const endpointId = randomUUID();
    const event = eventNumber(MERCHANT, 1);
    const body = new Uint8Array([123, 0, 255, 125]);
    const acceptedAt = START + 5000.5;
    const asked = head(event, endpointId, { trigger: 'test', attemptsMax: 1, acceptedAt });
    const apply = journalOf(test.store);
    await apply(delivered(asked));
    await apply(requested(asked, body));
    const found = await test.store.log.delivery(MERCHANT, endpointId, asked.deliveryId);
    expect(found).toMatchObject({ status: 'delivered', trigger: 'test', createdAt: START + 5000 });
    expect([...(found?.body ?? [])]).toEqual([...body]);
    expect(await test.store.log.event(MERCHANT, event.eventId)).toBeUndefined();
  });

  it('shows a resend beside the delivery it repeats, each with its own body', async () => {
    const endpointId = randomUUID();
    const event = eventNumber(MERCHANT, 1);
    const again = (trigger: 'manual' | 'replay', hours: number) => {
      const acceptedAt = START + hours * HOUR_MS;
      return head(event, endpointId, { trigger, attemptsMax: 1, deliveryId: randomUUID(), acceptedAt });
    };
    const apply = journalOf(test.store);
    await apply(routed(event, [endpointId]));
    await apply(requested(again('manual', 2), bodyOf(event)));
    await apply(requested(again('replay', 3), new Uint8Array([1])));
    const { details } = await everything(test.store, endpointId);
    expect(details.map((found) => [found?.trigger, found?.body?.length])).toEqual([
      ['replay', 1],
      ['manual', bodyOf(event).length],
      ['live', bodyOf(event).length],
    ]);
  });

  it("keeps two merchants' events apart when they have one id", async () => {
    const [mine, theirs] = [randomUUID(), randomUUID()];
    const event = eventNumber(MERCHANT, 1);
    const foreign = { ...event, merchantId: 'another', subType: 'FAILED' };
    const apply = journalOf(test.store);
    await apply(routed(event, [mine]));
    await apply(routed(foreign, [theirs]));
    expect((await test.store.log.event(MERCHANT, event.eventId))?.event).toEqual(event);
    expect((await test.store.log.event('another', event.eventId))?.event).toEqual(foreign);
    expect((await test.store.lists.deliveries(MERCHANT, { endpointId: theirs, limit: 10 })).records).toEqual(
      [],
    );
  });
}
