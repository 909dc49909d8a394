/** POST /producer/events?dry_run=true judges as the real publish does, and publishes, stores and counts nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dryRunJson } from '../../../services/api/producer/dry-run.ts';
import type { EventJson } from '../../../services/codec/event-json.ts';
import { producerKey, recordJournal, routeEvents } from '../../support/api/routed-api.ts';
import { createEndpoint, startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { eventOf, jsonEventOf } from '../../support/records/events.ts';

const KYC = { type: 'KYC', subType: 'FULL_USER' } as const;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await createEndpoint(api, { url: 'https://a.merchant.com/all' });
  await createEndpoint(api, { url: 'https://a.merchant.com/kyc', subscribed_events: ['KYC'] });
  await eventually(
    'the directory has them',
    () => [...api.directory.endpointsOf(api.merchantId)].length === 2,
  );
  await routeEvents(api);
  await recordJournal(api);
});
afterAll(() => api.close());

const publish = (json: unknown, query = '', key = api.keys.producer, at = api) =>
  at.call('POST', `/producer/events${query}`, { json, key });
const dry = (json: unknown, key?: string, at?: TestApi) => publish(json, '?dry_run=true', key, at);
const inHeader = (event: EventJson, change: object) => ({ ...event, header: { ...event.header, ...change } });

test('a dry run counts the endpoints that the event would go to, and publishes nothing', async () => {
  const event = jsonEventOf(api.merchantId, 'dry', KYC);
  const other = jsonEventOf(api.merchantId, 'dry too');
  const logged = api.logged.length;
  const { status, body } = await dry([event, other]);
  expect([status, body]).toEqual([
    200,
    {
      dry_run: true,
      accepted: 2,
      duplicates: 0,
      quarantined: 0,
      results: [
        { event_id: event.header.eventId, status: 'accepted', endpoints: { routed: 2, skipped: 0 } },
        { event_id: other.header.eventId, status: 'accepted', endpoints: { routed: 1, skipped: 1 } },
      ],
    },
  ]);
  expect(api.logged.slice(logged).join('')).not.toContain(event.header.eventId);
  const status404 = await api.call('GET', `/producer/events/${event.header.eventId}`, {
    key: api.keys.producer,
  });
  expect(status404.status).toBe(404);
  // Its id is free.
  expect((await publish([event, other])).body).toMatchObject({ accepted: 2, duplicates: 0 });
});

test('a dry run says of every event what the real publish then says', async () => {
  const known = jsonEventOf(api.merchantId, 'known');
  await publish(known);
  const events = [
    known,
    inHeader(known, { entityId: crypto.randomUUID() }),
    jsonEventOf('nobody', 'of nobody'),
    inHeader(jsonEventOf(api.merchantId, 'too early'), { occurredAt: 1_000 }),
    jsonEventOf(api.merchantId, 'good'),
    jsonEventOf(api.merchantId, 'good'),
  ];
  const tried = (await dry(events)).body;
  const real = (await publish(events)).body;
  const withoutCounts = tried.results.map(({ endpoints: _, ...rest }: { endpoints: unknown }) => rest);
  expect({ ...tried, results: withoutCounts }).toEqual({ dry_run: true, ...real });
  expect(real.results.map(({ status, code }: { status: string; code?: string }) => code ?? status)).toEqual([
    'duplicate',
    'event_id_conflict',
    'unknown_merchant',
    'schema_violation',
    'accepted',
    'duplicate',
  ]);
  expect(tried.results.map(({ endpoints }: { endpoints: unknown }) => endpoints !== null)).toEqual([
    ...[false, false, false, false, true, false],
  ]);
});

test('a dry run is refused as the real publish is', async () => {
  const { key } = await producerKey(api, { types: ['AML'] });
  const money = jsonEventOf(api.merchantId, 'money');
  const early = inHeader(money, { occurredAt: 1_000 });
  for (const [json, ofKey] of [
    [money, key],
    [early, undefined],
    [{ ...money, type: 'Money' }, undefined],
    [[], undefined],
  ] as const) {
    const [tried, real] = [await dry(json, ofKey), await publish(json, '', ofKey)];
    expect([tried.status, { ...tried.body, request_id: '', instance: '' }]).toEqual([
      real.status,
      { ...real.body, request_id: '', instance: '' },
    ]);
    expect(tried.status).toBeGreaterThanOrEqual(400);
  }
});

test('a dry run in production tells that a simulated event would be quarantined', async () => {
  const production = await startTestApi({ environment: 'production' });
  const event = inHeader(jsonEventOf(production.merchantId, 'simulated'), { simulated: true });
  const { body } = await dry(event, production.keys.producer, production);
  expect(body.results[0]).toMatchObject({ status: 'quarantined', code: 'simulated_in_production' });
  expect(await production.broker.quarantine.list({ limit: 1 })).toEqual([]);
  await production.close();
});

test('a dry run tells that an event would be quarantined which only the router refuses', () => {
  const event = eventOf(api.merchantId, 'incomplete', { type: 'fiatToCrypto', subType: 'SUCCESS' });
  const { transactionHash: _, ...data } = event.data;
  // No event gets so far over HTTP.
  const judgement = { refusals: new Map(), now: Date.now() };
  const { accepted, quarantined, results } = dryRunJson(api, [{ ...event, data }], ['accepted'], judgement);
  expect([accepted, quarantined, results]).toEqual([
    0,
    1,
    [
      expect.objectContaining({
        ...{ event_id: event.eventId, status: 'quarantined', code: 'schema_violation', endpoints: null },
        detail: expect.stringContaining('transactionHash'),
      }),
    ],
  ]);
});

test.each([
  ['dry_run=yes', 'invalid_enum', '/query/dry_run'],
  ['dry_run=', 'invalid_enum', '/query/dry_run'],
  ['dry_run=true&dry_run=false', 'invalid_enum', '/query/dry_run'],
  ['dryrun=true', 'unknown_field', '/query/dryrun'],
  ['dry-run=true', 'unknown_field', '/query/dry-run'],
])('the query %s publishes nothing, and is refused', async (query, code, pointer) => {
  const event = jsonEventOf(api.merchantId, query);
  const { status, body } = await publish(event, `?${query}`);
  expect([status, body.code, body.errors[0].code, body.errors[0].pointer]).toEqual([
    ...[400, 'validation_error', code, pointer],
  ]);
  expect((await publish(event)).body.accepted).toBe(1);
});

test('the query dry_run=false publishes what it is given', async () => {
  const event = jsonEventOf(api.merchantId, 'not dry');
  expect((await publish(event, '?dry_run=false')).status).toBe(202);
  expect((await publish(event)).body.duplicates).toBe(1);
});
