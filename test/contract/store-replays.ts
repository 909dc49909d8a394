import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { DomainEvent } from '../../services/domain/event.ts';
import { deliveryId, requestedDeliveryId } from '../../services/domain/ids.ts';
import type { SkipReason } from '../../services/domain/journal.ts';
import type { ReplayScope } from '../../services/store/replays.ts';
import type { Store } from '../../services/store/store.ts';
import {
  bodyOf,
  cancelled,
  createEndpoint,
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
import { replayJobs } from './merchants/store-replay-jobs.ts';
import type { StoreUnderTest } from './store-place.ts';

const MERCHANT = 'a-merchant';

export function replayContract(test: StoreUnderTest): void {
  describe('the replays in the store', () => {
    missedEvents(test);
    manyEndpoints(test);
    replayJobs(test);
  });
}

/** Returns the entry of an event that skipped one endpoint for `reason`. */
function skipped(event: DomainEvent, endpointId: string, reason: SkipReason = 'endpoint_disabled') {
  return { ...routed(event, []), trace: [{ endpointId, verdict: reason }] } as const;
}

function scopeOf(endpointId: string | null, change: Partial<ReplayScope> = {}): ReplayScope {
  const all = {
    since: START,
    until: START + 1000 * HOUR_MS,
    types: null,
    eventIds: null,
    only: 'missing',
  } as const;
  return { merchantId: MERCHANT, endpointId, ...all, ...change };
}

/** Reads all pages of `limit`, and returns each event's index in `events` with the reason why it was missed. */
async function missed(store: Store, scope: ReplayScope, events: readonly DomainEvent[], limit = 100) {
  const found: string[] = [];
  for (let place: string | null = null; ; ) {
    const page: Awaited<ReturnType<Store['replays']['missed']>> = await store.replays.missed(
      scope,
      place,
      limit,
    );
    for (const { eventId, because } of page.events) {
      found.push(`${events.findIndex((event) => event.eventId === eventId)} ${because}`);
    }
    if (page.isLast) return found;
    place = page.next;
  }
}

/** Stores seven events of an endpoint: skipped, filtered, exhausted, cancelled, delivered, retrying, refused. */
async function sevenOutcomes(test: StoreUnderTest) {
  const endpointId = randomUUID();
  await createEndpoint(test.store, MERCHANT, endpointId);
  const events = Array.from({ length: 7 }, (_, n) => eventNumber(MERCHANT, n));
  const [a, b, c, d, e, f, g] = events as [
    DomainEvent,
    DomainEvent,
    DomainEvent,
    DomainEvent,
    DomainEvent,
    DomainEvent,
    DomainEvent,
  ];
  const apply = journalOf(test.store);
  await apply(skipped(a, endpointId), skipped(b, endpointId, 'filtered'));
  await apply(...[c, d, e, f, g].map((event) => routed(event, [endpointId])));
  await apply(
    failed(head(c, endpointId, { attempt: 7 })),
    cancelled(head(d, endpointId)),
    delivered(head(e, endpointId)),
    failed(head(f, endpointId)),
    failed(head(g, endpointId), 'endpoint_gone'),
  );
  return { endpointId, events, apply };
}

function missedEvents(test: StoreUnderTest): void {
  it('have every event of the merchant for a replay of all, and only those that it names', async () => {
    const { endpointId, events, apply } = await sevenOutcomes(test);
    await apply(routed(eventNumber('another', 2), [randomUUID()]));
    const { store } = test;
    const all = [0, 1, 2, 3, 4, 5, 6].map((n) => `${n} asked`);
    const scope = scopeOf(endpointId, { only: 'all' });
    for (const limit of [1, 3, 100]) expect(await missed(store, scope, events, limit)).toEqual(all);
    const period = { since: START + HOUR_MS, until: START + 3 * HOUR_MS };
    expect(await missed(store, scopeOf(endpointId, { only: 'all', ...period }), events)).toEqual(
      all.slice(1, 3),
    );
    const eventIds = [6, 3, 4].map((n) => events[n]?.eventId ?? '');
    expect(await missed(store, scopeOf(endpointId, { only: 'all', eventIds }), events)).toEqual(
      [3, 4, 6].map((n) => `${n} asked`),
    );
    expect(await missed(store, scopeOf(endpointId, { eventIds }), events)).toEqual([
      '3 cancelled',
      '6 refused',
    ]);
    const replay = { ...scope, eventIds, replayId: randomUUID(), count: 3 };
    await store.replays.create(replay, { at: START, actor: OPERATOR });
    expect(await store.replays.get(replay.replayId)).toMatchObject({ only: 'all', eventIds });
  });

  it('know what an endpoint missed, oldest first, and why, page by page', async () => {
    const { endpointId, events } = await sevenOutcomes(test);
    const { store } = test;
    const all = ['0 skipped', '2 exhausted', '3 cancelled', '6 refused'];
    expect(await missed(store, scopeOf(endpointId), events)).toEqual(all);
    expect(await missed(store, scopeOf(endpointId), events, 1)).toEqual(all);
    expect(await missed(store, scopeOf(endpointId, { only: 'failed' }), events, 2)).toEqual([
      '2 exhausted',
      '6 refused',
    ]);
    expect(await missed(store, scopeOf(endpointId, { types: ['KYC'] }), events)).toEqual([]);
    const period = { since: START + HOUR_MS, until: START + 3 * HOUR_MS };
    expect(await missed(store, scopeOf(endpointId, period), events)).toEqual(['2 exhausted']);
    expect(await missed(store, scopeOf(randomUUID()), events)).toEqual([]);
    const { events: found } = await store.replays.missed(scopeOf(endpointId), null, 10);
    expect(found.map((event) => event.deliveryId)).toEqual([
      null,
      deliveryId(events[2]?.eventId ?? '', endpointId),
      deliveryId(events[3]?.eventId ?? '', endpointId),
      deliveryId(events[6]?.eventId ?? '', endpointId),
    ]);
  });

  it('forget a miss once a first delivery, a resend or a replay delivered it, but not a test', async () => {
    const { endpointId, events, apply } = await sevenOutcomes(test);
    const [a, , c, d] = events as [DomainEvent, DomainEvent, DomainEvent, DomainEvent];
    const again = (event: DomainEvent, trigger: 'manual' | 'replay' | 'test') => {
      const id = requestedDeliveryId(trigger, event.eventId, endpointId);
      return head(event, endpointId, { trigger, attemptsMax: 1, deliveryId: id });
    };
    const left = () => missed(test.store, scopeOf(endpointId), events);
    const first = head(a, endpointId, { trigger: 'replay' });
    await apply(requested(first, bodyOf(a)));
    expect(await left()).toEqual(['2 exhausted', '3 cancelled', '6 refused']);
    await apply(failed({ ...first, attempt: 7 }));
    expect(await left()).toEqual(['0 exhausted', '2 exhausted', '3 cancelled', '6 refused']);
    for (const asked of [again(c, 'test'), again(d, 'replay')]) await apply(requested(asked, bodyOf(c)));
    await apply(delivered(again(c, 'test')), failed(again(d, 'replay')));
    expect(await left()).toEqual(['0 exhausted', '2 exhausted', '3 cancelled', '6 refused']);
    await apply(requested(again(c, 'manual'), bodyOf(c)), delivered(again(c, 'manual')));
    const other = { ...again(d, 'replay'), deliveryId: randomUUID() };
    await apply(requested(other, bodyOf(d)), delivered(other));
    expect(await left()).toEqual(['0 exhausted', '6 refused']);
    await test.crashAndReopen();
    expect(await left()).toEqual(['0 exhausted', '6 refused']);
  });

  it('say in the trace that a replay has sent a skipped event', async () => {
    const { endpointId, events, apply } = await sevenOutcomes(test);
    const [event] = events as [DomainEvent];
    const other = randomUUID();
    const twice = { ...skipped(event, endpointId), at: 1 };
    await apply({ ...twice, trace: [...twice.trace, { endpointId: other, verdict: 'endpoint_disabled' }] });
    const first = head(event, endpointId, { trigger: 'replay' });
    await apply(requested(first, bodyOf(event)));
    expect((await test.store.log.event(MERCHANT, event.eventId))?.trace).toEqual([
      {
        endpointId,
        verdict: 'delivered_to',
        deliveryId: first.deliveryId,
        apiVersion: '2.3.8',
        byReplay: true,
      },
      { endpointId: other, verdict: 'endpoint_disabled' },
    ]);
    const delivery = await test.store.log.delivery(MERCHANT, endpointId, first.deliveryId);
    expect(delivery).toMatchObject({ trigger: 'replay', attemptsMax: 7, status: 'pending' });
    expect(delivery?.body).toEqual(bodyOf(event));
  });

  it('accept an attempt that is recorded before its request', async () => {
    const { endpointId, events, apply } = await sevenOutcomes(test);
    const [event] = events as [DomainEvent];
    const first = head(event, endpointId, { trigger: 'replay' });
    await apply(delivered(first));
    await apply(requested(first, bodyOf(event)));
    expect(await missed(test.store, scopeOf(endpointId), events)).toEqual([
      '2 exhausted',
      '3 cancelled',
      '6 refused',
    ]);
    expect((await test.store.log.event(MERCHANT, event.eventId))?.trace[0]?.verdict).toBe('delivered_to');
  });

  it('forget a missed event when it is deleted', async () => {
    const { endpointId, events } = await sevenOutcomes(test);
    while ((await test.store.log.retain(START + 100 * HOUR_MS, 100)) > 0);
    expect(await missed(test.store, scopeOf(endpointId), events)).toEqual([]);
  });
}

function manyEndpoints(test: StoreUnderTest): void {
  it('walk from endpoint to endpoint, the active ones of one merchant or of all', async () => {
    const names = ['first', 'second', 'disabled', 'elsewhere'];
    const apply = journalOf(test.store);
    const events: DomainEvent[] = [];
    const of = new Map<string, string>();
    for (const name of names) {
      const merchant = name === 'elsewhere' ? 'another-merchant' : MERCHANT;
      const endpointId = randomUUID();
      of.set(endpointId, name);
      await createEndpoint(test.store, merchant, endpointId);
      const own = [0, 1].map((n) => eventNumber(merchant, n, { eventId: randomUUID() }));
      await apply(...own.map((event) => skipped(event, endpointId)));
      events.push(...own);
      const change = { status: 'disabled' } as const;
      const options = { at: START, actor: OPERATOR };
      if (name === 'disabled') await test.store.endpoints.update(merchant, endpointId, change, options);
    }
    for (const limit of [1, 2, 3, 100]) {
      const mine = await missed(test.store, scopeOf(null), events, limit);
      expect(mine).toEqual(['0 skipped', '1 skipped', '2 skipped', '3 skipped']);
      const all = await missed(test.store, scopeOf(null, { merchantId: null }), events, limit);
      expect(all).toEqual([...mine, '6 skipped', '7 skipped']);
    }
    const page = await test.store.replays.missed(scopeOf(null, { merchantId: null }), null, 100);
    expect(page.events.map(({ endpointId }) => of.get(endpointId))).toContain('elsewhere');
    expect(page.events.at(-1)?.merchantId).toBe('another-merchant');
  });
}
