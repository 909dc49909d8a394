import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deliveryId } from '../../services/domain/ids.ts';
import type { Store } from '../../services/store/store.ts';
import {
  bodyOf,
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  OPERATOR,
  requested,
  routed,
  START,
} from '../support/records/journal-entries.ts';
import type { StoreUnderTest } from './store-place.ts';

const MERCHANT = 'a-merchant';
const ANSWERED = {
  response: { status: 200, headers: [], body: Buffer.from('Thanks, Erika'), bodyTruncated: false },
} as const;

export function bodiesContract(test: StoreUnderTest): void {
  describe('the bodies in the delivery log', () => {
    bodiesByAge(test);
    erasure(test);
    erasureAndTime(test);
  });
}

/** Returns the stored body, response bodies and event data of a delivery. */
async function bodiesOf(
  store: Store,
  event: ReturnType<typeof eventNumber>,
  endpointId: string,
  id?: string,
) {
  const found = await store.log.delivery(
    event.merchantId,
    endpointId,
    id ?? deliveryId(event.eventId, endpointId),
  );
  const kept = await store.log.event(event.merchantId, event.eventId);
  return {
    body: found?.body && Buffer.from(found.body).toString(),
    removed: found?.bodyRemoved,
    responses: found?.attempts.map(({ response }) => Buffer.from(response?.body ?? []).toString()),
    data: kept?.event.data ?? null,
    trace: kept?.trace.length,
  };
}

const REMOVED = { body: null, removed: true, data: null, trace: 1 };

function bodiesByAge(test: StoreUnderTest): void {
  it('are deleted by age, in steps, before their rows, while younger ones stay', async () => {
    const endpointId = randomUUID();
    const events = Array.from({ length: 6 }, (_, n) => eventNumber(MERCHANT, n));
    const apply = journalOf(test.store);
    await apply(
      ...events.flatMap((event) => [
        routed(event, [endpointId]),
        failed(head(event, endpointId), 'http_5xx', ANSWERED),
      ]),
    );
    const [oldest, , , , youngest] = events as [
      (typeof events)[0],
      unknown,
      unknown,
      unknown,
      (typeof events)[0],
    ];
    let removed = 0;
    for (let step = -1; step !== 0; removed += step) {
      step = await test.store.log.removeBodies(START + 4 * HOUR_MS, 3);
      expect(step).toBeLessThanOrEqual(3);
    }
    expect(removed).toBeGreaterThan(0);
    expect(await bodiesOf(test.store, oldest, endpointId)).toEqual({ ...REMOVED, responses: [''] });
    const kept = { body: bodyOf(youngest).toString(), removed: false, data: youngest.data, trace: 1 };
    expect(await bodiesOf(test.store, youngest, endpointId)).toMatchObject({
      responses: ['Thanks, Erika'],
      data: kept.data,
      removed: false,
    });
    const store = await test.crashAndReopen();
    expect(await store.log.removeBodies(START + 4 * HOUR_MS, 3)).toBe(0);
    // A later attempt and a repeated routing do not restore them.
    const again = journalOf(store, 'later');
    await again(routed(oldest, [endpointId]), delivered(head(oldest, endpointId, { attempt: 2 }), ANSWERED));
    expect(await bodiesOf(store, oldest, endpointId)).toEqual({ ...REMOVED, responses: ['', ''] });
    const { records } = await store.lists.deliveries(MERCHANT, { endpointId, limit: 9 });
    expect(records).toHaveLength(6);
  });
}

async function carryOut(store: Store, erasureId: number) {
  let [events, deliveries] = [0, 0];
  for (let after: string | undefined; ; ) {
    const step = await store.erasures.step(erasureId, after);
    events += step.events;
    deliveries += step.deliveries;
    if (step.next === null) return { events, deliveries };
    after = step.next;
  }
}

function erasure(test: StoreUnderTest): void {
  it('are erased for one entity, in every delivery of its events, and for no other', async () => {
    const [endpointId, foreignId] = [randomUUID(), randomUUID()];
    const entityId = randomUUID();
    const [hers, second, others, foreign] = [
      eventNumber(MERCHANT, 1, { entityId }),
      eventNumber(MERCHANT, 2, { entityId }),
      eventNumber(MERCHANT, 3),
      eventNumber('another', 4, { entityId }),
    ];
    const apply = journalOf(test.store);
    const endpointOf = (event: typeof hers) => (event === foreign ? foreignId : endpointId);
    for (const event of [hers, second, others, foreign]) {
      await apply(
        routed(event, [endpointOf(event)]),
        failed(head(event, endpointOf(event)), 'http_5xx', ANSWERED),
      );
    }
    const resent = head(hers, endpointId, {
      ...{ trigger: 'manual', attemptsMax: 1, deliveryId: randomUUID() },
      acceptedAt: START + 9 * HOUR_MS,
    });
    await apply(requested(resent, Buffer.from('a body of its own')), delivered(resent, ANSWERED));
    const waiting = eventNumber(MERCHANT, 6, { entityId });
    await apply(routed(waiting, [endpointId]));
    const at = START + 10 * HOUR_MS;
    const order = { entityId, merchantId: MERCHANT };
    const id = await test.store.erasures.order(order, { at, actor: OPERATOR });
    expect(await test.store.erasures.unfinished()).toEqual([{ erasureId: id, ...order }]);
    const removed = await carryOut(test.store, id);
    expect(removed).toEqual({ events: 3, deliveries: 3 });
    // Its first attempt is recorded only now.
    await apply(failed(head(waiting, endpointId), 'http_5xx', ANSWERED));
    for (const event of [hers, second, waiting]) {
      expect(await bodiesOf(test.store, event, endpointId)).toEqual({ ...REMOVED, responses: [''] });
    }
    expect(await bodiesOf(test.store, hers, endpointId, resent.deliveryId)).toEqual({
      ...REMOVED,
      responses: [''],
    });
    for (const event of [others, foreign]) {
      expect(await bodiesOf(test.store, event, endpointOf(event))).toMatchObject({
        removed: false,
        responses: ['Thanks, Erika'],
        data: event.data,
      });
    }
    await test.store.erasures.finish(id, removed, { at, actor: OPERATOR });
    expect(await test.store.erasures.unfinished()).toEqual([]);
    const [last, first] = await test.store.audit.list({ limit: 2 });
    expect(last).toMatchObject({ action: 'entity.erased', details: { erasureId: id, ...removed } });
    expect(first).toMatchObject({ action: 'entity.erase', details: { erasureId: id, entityId } });
  });

  it('of an entity are known as erased to its merchant, up to the time of the order', async () => {
    const [entityId, anywhere] = [randomUUID(), randomUUID()];
    const at = START + 0.5;
    await test.store.erasures.order({ entityId, merchantId: MERCHANT }, { at, actor: OPERATOR });
    await test.store.erasures.order({ entityId: anywhere, merchantId: null }, { at, actor: OPERATOR });
    const isErased = (entity: string, merchantId: string, when: number) =>
      test.store.erasures.isErased({ entityId: entity, merchantId, at: when });
    expect([
      await isErased(entityId, MERCHANT, at),
      await isErased(entityId, MERCHANT, at + 2),
      await isErased(entityId, randomUUID(), at),
      await isErased(randomUUID(), MERCHANT, at),
      await isErased(anywhere, randomUUID(), at),
    ]).toEqual([true, false, false, false, true]);
  });
}

function erasureAndTime(test: StoreUnderTest): void {
  it('are not kept when recorded after an erasure but accepted before it, even through a crash', async () => {
    const endpointId = randomUUID();
    const entityId = randomUUID();
    const before = eventNumber(MERCHANT, 1, { entityId });
    const ahead = eventNumber(MERCHANT, 2, { entityId });
    const after = eventNumber(MERCHANT, 5, { entityId });
    const tried = head(ahead, endpointId);
    // So far only an attempt of this one is recorded.
    await journalOf(test.store)(failed(tried, 'http_5xx', ANSWERED));
    const at = START + 3 * HOUR_MS;
    const id = await test.store.erasures.order({ entityId, merchantId: null }, { at, actor: OPERATOR });
    const store = await test.crashAndReopen();
    expect(await store.erasures.unfinished()).toEqual([{ erasureId: id, entityId, merchantId: null }]);
    // Whether the event counts depends on the engine: nothing of it was recorded yet.
    expect(await carryOut(store, id)).toMatchObject({ deliveries: 1 });
    expect(await carryOut(store, id)).toEqual({ events: 0, deliveries: 0 });
    const apply = journalOf(store, 'later');
    await apply(
      ...[before, ahead, after].map((event) => routed(event, [endpointId])),
      ...[before, after].map((event) => failed(head(event, endpointId), 'http_5xx', ANSWERED)),
    );
    for (const event of [before, ahead]) {
      expect(await bodiesOf(store, event, endpointId)).toEqual({ ...REMOVED, responses: [''] });
    }
    expect(await bodiesOf(store, after, endpointId)).toMatchObject({
      removed: false,
      responses: ['Thanks, Erika'],
      data: after.data,
    });
  });
}
