/** The counts of attempts over REST: of one merchant only, in whole steps, within bounds. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEndpoint, startTestApi, type TestApi } from '../../support/api/test-api.ts';
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

const METRICS = '/merchant/metrics';
let api: TestApi;
let endpoint: string;

beforeAll(async () => {
  api = await startTestApi();
  endpoint = (await createEndpoint(api)).uuid;
  const [first, second] = [0, 2].map((n) => eventNumber(api.merchantId, n));
  const foreign = eventNumber(api.foreignMerchantId, 0);
  if (!first || !second) return;
  const foreignEndpoint = crypto.randomUUID();
  await journalOf(api.store)(
    routed(first, [endpoint]),
    failed(head(first, endpoint)),
    delivered(head(first, endpoint, { attempt: 2 })),
    routed(second, [endpoint]),
    failed(head(second, endpoint), 'dns_error'),
    delivered(head(foreign, foreignEndpoint)),
  );
});
afterAll(() => api.close());

const at = (n: number) => new Date(START + n * HOUR_MS).toISOString();
const DAY = `from=${at(0)}&to=${at(3)}&step=3600`;
const ask = (query: string) => api.call('GET', `${METRICS}?${query}`);

test('counts have a point for each step, also where nothing happened', async () => {
  const { status, body } = await ask(DAY);
  expect(status).toBe(200);
  const none = { attempts: 0, failed: 0, p50_ms: null, p99_ms: null };
  expect(body).toEqual({
    ...{ from: at(0), to: at(3), step: 3600, by: null },
    data: [
      {
        ...{ name: null, attempts: 3, failed: 2, p50_ms: 20.25, p99_ms: 20.25 },
        points: [
          { at: at(0), attempts: 2, failed: 1, p50_ms: 20.25, p99_ms: 20.25 },
          { at: at(1), ...none },
          { at: at(2), ...none, attempts: 1, failed: 1 },
        ],
      },
    ],
  });
});

test('counts are grouped and filtered by every parameter, and HEAD has no body', async () => {
  const names = async (query: string) => {
    const { body } = await ask(`${DAY}&${query}`);
    return body.data.map(({ name, attempts }: { name: string; attempts: number }) => [name, attempts]);
  };
  expect(await names('by=outcome')).toEqual([
    ['retry', 2],
    ['delivered', 1],
  ]);
  expect(await names('by=code')).toEqual([
    ['dns_error', 1],
    ['http_5xx', 1],
  ]);
  expect(await names('by=type')).toEqual([['fiatToCrypto', 3]]);
  expect(await names('by=endpoint')).toEqual([[endpoint, 3]]);
  expect(await names('type=KYC&by=type')).toEqual([]);
  expect(await names(`endpoint_uuid=${endpoint.toUpperCase()}`)).toEqual([[null, 3]]);
  expect(await names(`endpoint_uuid=${crypto.randomUUID()}`)).toEqual([[null, 0]]);
  const headers = { authorization: `API-Key ${api.keys.own}` };
  const headed = await fetch(`${api.api.url}${METRICS}?${DAY}`, { method: 'HEAD', headers });
  expect([headed.status, await headed.text()]).toEqual([200, '']);
});

test('counts of another merchant are not among them', async () => {
  const { body } = await api.call('GET', `${METRICS}?${DAY}&by=endpoint`, { key: api.keys.foreign });
  expect(body.data).toHaveLength(1);
  expect(body.data[0].name).not.toBe(endpoint);
  expect((await ask(`${DAY}&endpoint_uuid=${body.data[0].name}`)).body.data[0].attempts).toBe(0);
});

test('a period is widened to whole steps, and has a step that suits it when none is given', async () => {
  const off = await ask('from=2030-01-01T01:59:00Z&to=2030-01-01T02:01:00Z&step=300');
  expect([off.body.from, off.body.to, off.body.data[0].points.length]).toEqual([
    ...['2030-01-01T01:55:00.000Z', '2030-01-01T02:05:00.000Z', 2],
  ]);
  const steps = async (query: string) => (await ask(query)).body.step;
  expect(await steps('')).toBe(900);
  expect(await steps(`from=${at(0)}&to=${at(1)}`)).toBe(300);
  expect(await steps(`from=${at(0)}&to=${at(31 * 24)}`)).toBe(43_200);
});

test.each([
  ['step=299', '/query/step', 'out_of_range'],
  ['step=400', '/query/step', 'out_of_range'],
  ['step=90000', '/query/step', 'out_of_range'],
  ['step=x', '/query/step', 'invalid_type'],
  ['by=merchant', '/query/by', 'invalid_enum'],
  ['from=yesterday', '/query/from', 'invalid_format'],
  [`from=${at(1)}&to=${at(1)}`, '/query/from', 'out_of_range'],
  [`from=${at(0)}&to=${at(32 * 24)}`, '/query/from', 'out_of_range'],
  [`from=${at(0)}&to=${at(26)}&step=300`, '/query/step', 'out_of_range'],
  ['endpoint_uuid=x', '/query/endpoint_uuid', 'invalid_format'],
  ['since=2h', '/query/since', 'invalid_format'],
])('a query with %s is refused', async (query, pointer, code) => {
  const { status, body } = await ask(query);
  // A time or a step that the description allows, and this period does not.
  const refusal = query.includes('&to=') ? [422, 'period_not_countable'] : [400, 'validation_error'];
  expect([status, body.code]).toEqual(refusal);
  expect([body.errors[0].pointer, body.errors[0].code]).toEqual([pointer, code]);
});
