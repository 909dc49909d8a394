import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import { CursorInvalid } from '../../../services/store/change.ts';
import {
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const KYC = { type: 'KYC', subType: 'KYC_PENDING' } as const;

/** The lists of a merchant over all its endpoints. */
export function listContract(test: StoreUnderTest): void {
  describe('the list of a merchant’s deliveries', () => {
    deliveries(test);
  });
  describe('the list of a merchant’s events', () => {
    events(test);
  });
}

/** Twelve events, each for two of three endpoints in turn; every third is of type KYC, and some were attempted. */
async function filled(test: StoreUnderTest) {
  const endpoints = [randomUUID(), randomUUID(), randomUUID()];
  const apply = journalOf(test.store);
  const made = Array.from({ length: 12 }, (_, n) => eventNumber(MERCHANT, n, n % 3 === 0 ? KYC : {}));
  const endpointsOf = (n: number) => endpoints.filter((_, index) => index !== n % 3);
  await apply(...made.map((event, n) => routed(event, endpointsOf(n), [endpoints[n % 3] ?? ''])));
  const heads = made.map((event, n) => head(event, endpointsOf(n)[0] ?? ''));
  await apply(...heads.slice(0, 4).map((each) => delivered(each)));
  await apply(...heads.slice(4, 6).map((each) => failed(each)));
  const foreign = randomUUID();
  await apply(routed(eventNumber('another', 100), [foreign]));
  return { endpoints, apply, made, endpointsOf, foreign };
}

function deliveries(test: StoreUnderTest): void {
  type Options = Partial<Parameters<StoreUnderTest['store']['lists']['deliveries']>[1]>;
  const list = async (options: Options) =>
    (await test.store.lists.deliveries(MERCHANT, { limit: 100, ...options })).records;

  it('has those of every endpoint, newest first, and no other merchant’s', async () => {
    const { made, endpointsOf } = await filled(test);
    const expected = made.flatMap((event, n) => endpointsOf(n).map((id) => deliveryId(event.eventId, id)));
    const records = await list({});
    expect(new Set(records.map((each) => each.deliveryId))).toEqual(new Set(expected));
    expect(records).toHaveLength(expected.length);
    const times = records.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort((one, other) => other - one));
    const [first] = records;
    if (!first) throw new Error('the list is empty');
    expect(first).toEqual(
      await test.store.log.delivery(MERCHANT, first.endpointId, first.deliveryId).then((found) => {
        if (!found) return found;
        const { attempts, body, bodyRemoved, ...record } = found;
        return record;
      }),
    );
  });

  it('is filtered by status, type, subType, endpoint, entity and time, alone and together', async () => {
    const { made, endpoints, foreign } = await filled(test);
    const all = await list({});
    const entityId = made[7]?.entityId ?? '';
    const cases: readonly [Options, (record: (typeof all)[number]) => boolean][] = [
      [{ status: 'delivered' }, ({ status }) => status === 'delivered'],
      [{ status: 'failed' }, ({ status }) => status === 'failed'],
      [{ status: 'pending', type: 'KYC' }, ({ status, type }) => status === 'pending' && type === 'KYC'],
      [{ subType: 'KYC_PENDING' }, ({ subType }) => subType === 'KYC_PENDING'],
      [{ endpointId: endpoints[1] ?? '' }, ({ endpointId }) => endpointId === endpoints[1]],
      [{ entityId }, (record) => record.entityId === entityId],
      [
        { since: START + 2 * HOUR_MS, until: START + 5 * HOUR_MS },
        ({ createdAt }) => createdAt >= START + 2 * HOUR_MS && createdAt < START + 5 * HOUR_MS,
      ],
      [
        { status: 'failed', endpointId: endpoints[0] ?? '', since: START + 5 * HOUR_MS },
        ({ status, endpointId, createdAt }) =>
          status === 'failed' && endpointId === endpoints[0] && createdAt >= START + 5 * HOUR_MS,
      ],
    ];
    for (const [options, matches] of cases) {
      const expected = all.filter(matches);
      expect([options, expected.length > 0]).toEqual([options, true]);
      expect([options, await list(options)]).toEqual([options, expected]);
    }
    expect(await list({ endpointId: foreign })).toEqual([]);
    expect(await list({ endpointId: randomUUID() })).toEqual([]);
    expect((await test.store.lists.deliveries('unknown', { limit: 10 })).records).toEqual([]);
  });

  it.each([1, 3, 7])('is the same in pages of %d, while others come', async (limit) => {
    const { made, endpoints, apply } = await filled(test);
    // Of one millisecond too, so that the order cannot be the time's alone.
    const same = Array.from({ length: 9 }, (_, n) => eventNumber(MERCHANT, 20 + n, { occurredAt: START }));
    await apply(...same.map((event) => routed(event, endpoints)));
    const whole = (await list({})).map((each) => each.deliveryId);
    const seen: string[] = [];
    let after: string | undefined;
    for (let page = 0; ; page += 1) {
      const found = await test.store.lists.deliveries(MERCHANT, { limit, ...(after && { after }) });
      seen.push(...found.records.map((each) => each.deliveryId));
      await apply(routed(eventNumber(MERCHANT, 40 + page), endpoints));
      if (found.next === null) break;
      after = found.next;
    }
    expect(seen).toEqual(whole);
    expect(whole).toHaveLength(2 * made.length + 3 * same.length);
    await expect(list({ after: 'not a cursor' })).rejects.toBeInstanceOf(CursorInvalid);
  });
}

function events(test: StoreUnderTest): void {
  type Options = Partial<Parameters<StoreUnderTest['store']['lists']['events']>[1]>;
  const list = async (options: Options) =>
    (await test.store.lists.events(MERCHANT, { limit: 100, ...options })).records;

  it('has every event with its trace, newest first, also one that went nowhere', async () => {
    const { made, apply } = await filled(test);
    const lonely = eventNumber(MERCHANT, 30);
    await apply(routed(lonely, []));
    const records = await list({});
    expect(records.map(({ event }) => event.eventId)).toEqual(
      [lonely, ...made.reverse()].map(({ eventId }) => eventId),
    );
    for (const record of records) {
      const whole = await test.store.log.event(MERCHANT, record.event.eventId);
      const { data, ...head } = whole?.event ?? { data: null };
      expect(record).toMatchObject({ event: head, routedAt: whole?.routedAt, trace: whole?.trace });
    }
  });

  it('is filtered by type, subType, entity, time, endpoint and verdict', async () => {
    const { made, endpoints, foreign } = await filled(test);
    const ids = async (options: Options) => (await list(options)).map(({ event }) => event.eventId);
    const where = (matches: (n: number) => boolean) =>
      made.flatMap(({ eventId }, n) => (matches(n) ? [eventId] : [])).reverse();
    expect(await ids({ type: 'KYC' })).toEqual(where((n) => n % 3 === 0));
    expect(await ids({ subType: 'KYC_PENDING' })).toEqual(where((n) => n % 3 === 0));
    expect(await ids({ entityId: made[4]?.entityId ?? '' })).toContain(made[4]?.eventId);
    expect(await ids({ since: START + 2 * HOUR_MS, until: START + 4 * HOUR_MS })).toEqual(
      where((n) => n === 2 || n === 3),
    );
    const [first = ''] = endpoints;
    expect(await ids({ endpointId: first, verdict: 'filtered' })).toEqual(where((n) => n % 3 === 0));
    expect(await ids({ endpointId: first, verdict: 'delivered_to' })).toEqual(where((n) => n % 3 !== 0));
    expect(await ids({ verdict: 'endpoint_disabled' })).toEqual([]);
    expect(await ids({ endpointId: foreign })).toEqual([]);
    expect((await test.store.lists.events('unknown', { limit: 10 })).records).toEqual([]);
  });

  it('is the same in pages, and refuses a cursor that is not its own', async () => {
    const { apply } = await filled(test);
    const same = Array.from({ length: 5 }, (_, n) => eventNumber(MERCHANT, 20 + n, { occurredAt: START }));
    await apply(...same.map((event) => routed(event, [])));
    const whole = (await list({})).map(({ event }) => event.eventId);
    const seen: string[] = [];
    let after: string | undefined;
    for (let page = 0; ; page += 1) {
      const found = await test.store.lists.events(MERCHANT, { limit: 4, ...(after && { after }) });
      seen.push(...found.records.map(({ event }) => event.eventId));
      await apply(routed(eventNumber(MERCHANT, 40 + page), []));
      if (found.next === null) break;
      after = found.next;
    }
    expect(seen).toEqual(whole);
    await expect(list({ after: 'bm9wZQ' })).rejects.toBeInstanceOf(CursorInvalid);
  });
}
