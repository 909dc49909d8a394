/** The lists over all endpoints: filtered, page by page, of one merchant only. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { deliveryId } from '../../../services/domain/ids.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';
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

const DELIVERIES = '/merchant/deliveries';
const EVENTS = '/merchant/events';
let api: TestApi;
let one: string;
let other: string;
const events: DomainEvent[] = [];

beforeAll(async () => {
  api = await startTestApi();
  one = (await createEndpoint(api)).uuid;
  other = (await createEndpoint(api)).uuid;
  for (let n = 0; n < 6; n += 1) {
    events.push(eventNumber(api.merchantId, n, n % 2 === 0 ? { type: 'KYC', subType: 'KYC_PENDING' } : {}));
  }
  const apply = journalOf(api.store);
  await apply(
    ...events.map((event, n) => (n < 3 ? routed(event, [one], [other]) : routed(event, [one, other]))),
  );
  const [first, second] = events as [DomainEvent, DomainEvent];
  await apply(delivered(head(first, one)), failed(head(second, one)));
  await apply(routed(eventNumber(api.foreignMerchantId, 50), [crypto.randomUUID()]));
});
afterAll(() => api.close());

const idsOf = async (path: string, name: string): Promise<string[]> => {
  const { status, body } = await api.call('GET', path);
  expect([path, status]).toEqual([path, 200]);
  return body.data.map((item: Record<string, string>) => item[name]);
};
const deliveries = (query = '') => idsOf(DELIVERIES + query, 'delivery_uuid');
const listed = (query = '') => idsOf(EVENTS + query, 'event_uuid');
const made = (n: number, endpoint: string) => deliveryId(events[n]?.eventId ?? '', endpoint);
const at = (n: number) => new Date(START + n * HOUR_MS).toISOString();

describe('the list of deliveries over all endpoints', () => {
  test('has the same records as the endpoints’ own lists', async () => {
    const { body } = await api.call('GET', DELIVERIES);
    const own = await Promise.all(
      [one, other].map((uuid) => api.call('GET', `${ENDPOINTS}/${uuid}/deliveries`)),
    );
    const expected = own.flatMap((answer) => answer.body.data);
    expect(body.data).toHaveLength(9);
    expect(body.data).toEqual(expect.arrayContaining(expected));
  });

  test('is filtered by every parameter', async () => {
    expect(await deliveries('?status=delivered')).toEqual([made(0, one)]);
    expect(await deliveries('?status=failed&type=fiatToCrypto')).toEqual([made(1, one)]);
    expect(await deliveries('?status=failed&type=KYC')).toEqual([]);
    expect(await deliveries('?subType=KYC_PENDING')).toHaveLength(4);
    expect(await deliveries(`?endpoint_uuid=${other.toUpperCase()}`)).toHaveLength(3);
    expect(await deliveries(`?entity_uuid=${events[0]?.entityId}`)).toContain(made(0, one));
    expect(await deliveries(`?entity_uuid=${crypto.randomUUID()}`)).toEqual([]);
    expect(await deliveries(`?since=${at(1)}&until=${at(3)}`)).toEqual([made(2, one), made(1, one)]);
  });

  test('is walked page by page, each delivery once', async () => {
    const whole = await deliveries();
    const walked: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await api.call('GET', `${DELIVERIES}?limit=2${cursor && `&cursor=${cursor}`}`);
      walked.push(...body.data.map((item: { delivery_uuid: string }) => item.delivery_uuid));
      expect(body.has_more).toBe(body.next_cursor !== null);
      cursor = body.next_cursor;
    }
    expect(walked).toEqual(whole);
  });
});

describe('the list of events', () => {
  test('shows where each went, newest first', async () => {
    const { body } = await api.call('GET', EVENTS);
    expect(body.data.map((item: { event_uuid: string }) => item.event_uuid)).toEqual(
      events.map(({ eventId }) => eventId).reverse(),
    );
    expect(body.data.at(-1)).toMatchObject({
      type: 'KYC',
      subType: 'KYC_PENDING',
      entity_uuid: events[0]?.entityId,
      endpoints: [
        { endpoint_uuid: one, verdict: 'routed', delivery_uuid: made(0, one) },
        { endpoint_uuid: other, verdict: 'filtered', delivery_uuid: null },
      ],
    });
  });

  test('is filtered by every parameter', async () => {
    const ids = (...numbers: number[]) => numbers.map((n) => events[n]?.eventId);
    expect(await listed('?verdict=filtered')).toEqual(ids(2, 1, 0));
    expect(await listed(`?verdict=routed&endpoint_uuid=${other}`)).toEqual(ids(5, 4, 3));
    expect(await listed('?verdict=endpoint_disabled')).toEqual([]);
    expect(await listed('?type=KYC')).toEqual(ids(4, 2, 0));
    expect(await listed('?subType=KYC_PENDING&limit=1')).toEqual(ids(4));
    expect(await listed(`?since=${at(4)}`)).toEqual(ids(5, 4));
  });
});

test.each([DELIVERIES, EVENTS])('%s has nothing of another merchant', async (path) => {
  const { body } = await api.call('GET', path, { key: api.keys.foreign });
  expect(body.data).toHaveLength(1);
  const foreign = body.data[0].endpoint_uuid ?? body.data[0].endpoints[0].endpoint_uuid;
  expect(await idsOf(`${path}?endpoint_uuid=${foreign}`, 'event_uuid')).toEqual([]);
});

test.each([
  [`${DELIVERIES}?status=lost`, 'invalid_enum'],
  [`${DELIVERIES}?verdict=routed`, 'invalid_format'],
  [`${DELIVERIES}?endpoint_uuid=mine`, 'invalid_format'],
  [`${DELIVERIES}?cursor=bm9wZQ`, 'invalid_format'],
  [`${DELIVERIES}?since=2016-12-31T23:59:60Z`, 'invalid_format'],
  [`${EVENTS}?verdict=delivered`, 'invalid_enum'],
  [`${EVENTS}?entity_uuid=x`, 'invalid_format'],
  [`${EVENTS}?cursor=bm9wZQ`, 'invalid_format'],
  [`${EVENTS}?limit=501`, 'out_of_range'],
])('%s is a 400', async (path, code) => {
  const answer = await api.call('GET', path);
  expect([answer.status, answer.body.errors?.[0]?.code]).toEqual([400, code]);
});
