import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import { CursorInvalid } from '../../../services/store/change.ts';
import {
  createEndpoint,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  OPERATOR,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const KYC = { type: 'KYC', subType: 'KYC_PENDING' } as const;
const MERCHANTS = ['one', 'two', 'three', 'idle'];
const EVENTS = 30;

/** The lists over all merchants, which operators read. */
export function everyMerchantContract(test: StoreUnderTest): void {
  describe('the lists over all merchants', () => {
    lists(test);
  });
  describe('endpoints of all merchants', () => {
    endpoints(test);
  });
}

/** Events of three merchants in turn; the first has most. Every tenth delivery has failed. */
async function filled(test: StoreUnderTest) {
  const ids = new Map(MERCHANTS.map((merchant) => [merchant, randomUUID()]));
  const apply = journalOf(test.store);
  const ofMerchant = (n: number) => (n % 5 === 0 ? 'two' : n % 7 === 0 ? 'three' : 'one');
  const made = Array.from({ length: EVENTS }, (_, n) =>
    eventNumber(ofMerchant(n), n, n % 3 === 0 ? KYC : {}),
  );
  const endpointOf = (merchantId: string) => ids.get(merchantId) ?? '';
  await apply(...made.map((event) => routed(event, [endpointOf(event.merchantId)])));
  const heads = made.map((event) => head(event, endpointOf(event.merchantId)));
  await apply(...heads.filter((_, n) => n % 10 === 0).map((each) => failed(each)));
  return { made, endpointOf, apply };
}

function lists(test: StoreUnderTest): void {
  type Deliveries = Partial<Parameters<StoreUnderTest['store']['lists']['deliveries']>[1]>;
  type Events = Partial<Parameters<StoreUnderTest['store']['lists']['events']>[1]>;
  const deliveries = async (options: Deliveries) =>
    (await test.store.lists.deliveries(null, { limit: 100, ...options })).records;
  const events = async (options: Events) =>
    (await test.store.lists.events(null, { limit: 100, ...options })).records;

  it('have the rows of each merchant once, newest first, with the merchant', async () => {
    const { made, endpointOf } = await filled(test);
    const newest = made.toReversed();
    expect((await events({})).map(({ event }) => [event.merchantId, event.eventId])).toEqual(
      newest.map(({ merchantId, eventId }) => [merchantId, eventId]),
    );
    expect((await deliveries({})).map((each) => [each.merchantId, each.deliveryId])).toEqual(
      newest.map(({ merchantId, eventId }) => [merchantId, deliveryId(eventId, endpointOf(merchantId))]),
    );
    for (const merchantId of MERCHANTS) {
      const own = await test.store.lists.deliveries(merchantId, { limit: 100 });
      expect((await deliveries({})).filter((each) => each.merchantId === merchantId)).toEqual(own.records);
    }
  });

  it('are filtered as those of one merchant are', async () => {
    const { made, endpointOf } = await filled(test);
    const where = (matches: (n: number) => boolean) =>
      made.flatMap(({ eventId }, n) => (matches(n) ? [eventId] : [])).reverse();
    const delivered = async (options: Deliveries) =>
      (await deliveries(options)).map(({ eventId }) => eventId);
    const listed = async (options: Events) => (await events(options)).map(({ event }) => event.eventId);
    const entityId = made[8]?.entityId ?? '';
    const period = { since: START + 2 * HOUR_MS, until: START + 9 * HOUR_MS };
    expect(await delivered({ status: 'failed' })).toEqual(where((n) => n % 10 === 0));
    expect(await delivered({ status: 'pending', type: 'KYC' })).toEqual(
      where((n) => n % 10 !== 0 && n % 3 === 0),
    );
    expect(await delivered({ endpointId: endpointOf('two') })).toEqual(where((n) => n % 5 === 0));
    expect(await delivered({ endpointId: randomUUID() })).toEqual([]);
    for (const list of [delivered, listed]) {
      expect(await list({ type: 'KYC' })).toEqual(where((n) => n % 3 === 0));
      expect(await list({ entityId })).toEqual(where((n) => made[n]?.entityId === entityId));
      expect(await list({ subjectId: randomUUID() })).toEqual([]);
      expect(await list(period)).toEqual(where((n) => n >= 2 && n < 9));
    }
    expect(await listed({ endpointId: endpointOf('three'), verdict: 'delivered_to' })).toEqual(
      where((n) => made[n]?.merchantId === 'three'),
    );
  });

  it.each([4, 13])('are the same in pages of %d, while others come', async (limit) => {
    const { apply, endpointOf } = await filled(test);
    // Of one millisecond too, so that the order cannot be the time's alone.
    const same = MERCHANTS.map((merchant, n) => eventNumber(merchant, 60 + n, { occurredAt: START }));
    await apply(...same.map((event) => routed(event, [endpointOf(event.merchantId)])));
    for (const list of ['deliveries', 'events'] as const) {
      const idOf = (each: object) => JSON.stringify(each);
      const whole = (await test.store.lists[list](null, { limit: 100 })).records.map(idOf);
      const seen: string[] = [];
      for (let after: string | undefined, page = 0; ; page += 1) {
        const found = await test.store.lists[list](null, { limit, ...(after && { after }) });
        seen.push(...found.records.map(idOf));
        if (page < 3) await apply(routed(eventNumber('two', 100 + page), [endpointOf('two')]));
        if (found.next === null) break;
        after = found.next;
      }
      expect(seen).toEqual(whole);
    }
    await expect(deliveries({ after: 'not a cursor' })).rejects.toBeInstanceOf(CursorInvalid);
  });

  it('tell the merchant and the endpoint of a delivery by its id', async () => {
    const { made, endpointOf } = await filled(test);
    for (const { merchantId, eventId } of made.slice(0, 8)) {
      const endpointId = endpointOf(merchantId);
      const id = deliveryId(eventId, endpointId);
      expect(await test.store.log.ownerOf(id)).toEqual({ merchantId, endpointId });
      expect(await test.store.log.endpointOf(merchantId, id)).toBe(endpointId);
      expect(await test.store.log.endpointOf('idle', id)).toBeUndefined();
    }
    expect(await test.store.log.ownerOf(randomUUID())).toBeUndefined();
  });
}

function endpoints(test: StoreUnderTest): void {
  it('are found by their id, listed newest first, and counted by status', async () => {
    const { endpoints: port } = test.store;
    const made: string[] = [];
    for (const [n, merchantId] of ['one', 'two', 'one', 'two', 'one'].entries()) {
      const uuid = randomUUID();
      await createEndpoint(test.store, merchantId, uuid, n === 1 ? { status: 'disabled' } : {}, START + n);
      made.push(uuid);
    }
    const ids = async (options: Partial<Parameters<typeof port.every>[0]>) =>
      (await port.every({ limit: 10, ...options })).map(({ uuid }) => uuid);
    const newest = made.toReversed();
    expect(await ids({})).toEqual(newest);
    expect(await ids({ merchantId: 'two' })).toEqual([made[3], made[1]]);
    expect(await ids({ status: 'disabled' })).toEqual([made[1]]);
    expect(await ids({ isFailing: true })).toEqual([]);
    const [first] = await port.every({ limit: 1 });
    expect(await ids({ after: first?.cursor ?? '' })).toEqual(newest.slice(1));
    await expect(ids({ after: 'x' })).rejects.toBeInstanceOf(CursorInvalid);
    expect((await port.find(made[1] ?? ''))?.merchantId).toBe('two');
    expect(await port.find(randomUUID())).toBeUndefined();
    const apply = journalOf(test.store);
    const event = eventNumber('one', 0);
    await apply(routed(event, [made[0] ?? '']), failed(head(event, made[0] ?? '')));
    expect(await ids({ isFailing: true })).toEqual([made[0]]);
    expect(await port.counts(null)).toEqual({ active: 4, disabled: 1, auto_disabled: 0, failing: 1 });
    expect(await port.counts('two')).toEqual({ active: 1, disabled: 1, auto_disabled: 0, failing: 0 });
    const [gone = ''] = made;
    await port.remove('one', gone, { at: START + 9, actor: OPERATOR });
    expect(await port.find(gone)).toBeUndefined();
    expect(await ids({})).toEqual(newest.slice(0, -1));
    expect(await port.counts('one')).toEqual({ active: 2, disabled: 0, auto_disabled: 0, failing: 0 });
  });
}
