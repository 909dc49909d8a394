/**
 * GET /producer/events/{id} says what became of an event: accepted, routed to how many endpoints, or quarantined and why.
 * A key hears of what it published and of what it could have published, and of nothing else.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventJson } from '../../../services/codec/event-json.ts';
import { PUBLISHED_ON_KAFKA } from '../../../services/domain/event.ts';
import { producerKey, recordJournal, routeEvents } from '../../support/api/routed-api.ts';
import {
  createEndpoint,
  onDatabase,
  startTestApi,
  type TestApi,
  type TestApiOptions,
} from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { eventOf, jsonEventOf } from '../../support/records/events.ts';

const KYC = { type: 'KYC', subType: 'FULL_USER' } as const;
const NO_SUCH_TYPE = { type: 'AML', subType: 'AML_CHECKS_COMPLETED' } as const;

let api: TestApi;

const publish = (json: unknown, key = api.keys.producer) =>
  api.call('POST', '/producer/events', { json, key });
const ask = (eventId: string, key = api.keys.producer) =>
  api.call('GET', `/producer/events/${eventId}`, { key });
const idOf = ({ header }: EventJson) => header.eventId;

/** Publishes, and returns the answer once the routing is recorded. */
async function routedAnswer(event: EventJson, key = api.keys.producer) {
  expect((await publish(event, key)).status).toBe(202);
  return eventually('the routing is recorded', async () => {
    const answer = await ask(idOf(event), key);
    return answer.body.status === 'routed' ? answer : undefined;
  });
}

/** Returns an event of a merchant that does not exist, in quarantine. */
async function quarantined(name: string, key = api.keys.producer): Promise<EventJson> {
  const event = jsonEventOf(`nobody-${name}`, name);
  expect((await publish(event, key)).body.quarantined).toBe(1);
  return event;
}

function suite(start: (options: TestApiOptions) => Promise<TestApi>): void {
  beforeAll(async () => {
    api = await start({});
    await createEndpoint(api, { url: 'https://a.merchant.com/all' });
    await createEndpoint(api, { url: 'https://a.merchant.com/kyc', subscribed_events: ['KYC'] });
    await createEndpoint(api, { url: 'https://b.merchant.com/aml', subscribed_events: ['AML'] });
    await eventually(
      'the directory has them',
      () => [...api.directory.endpointsOf(api.merchantId)].length === 3,
    );
    await routeEvents(api);
    await recordJournal(api);
  });
  afterAll(() => api.close());
  statuses();
  rights();
}

function statuses(): void {
  test('a routed event is told with the numbers of its endpoints, and names none of them', async () => {
    const { body, text } = await routedAnswer(jsonEventOf(api.merchantId, 'routed', KYC));
    expect(body).toEqual({
      event_id: eventOf(api.merchantId, 'routed', KYC).eventId,
      status: 'routed',
      detail: 'The event was routed to 2 endpoints; 1 endpoint did not want it or could not get it.',
      merchant_id: api.merchantId,
      accepted_at: expect.any(String),
      routed_at: expect.any(String),
      endpoints: { routed: 2, skipped: 1 },
      quarantine: [],
    });
    for (const endpoint of api.directory.endpointsOf(api.merchantId))
      expect(text).not.toContain(endpoint.uuid);
  });

  test('an event that nobody wants is routed to no endpoint', async () => {
    const event = jsonEventOf(api.foreignMerchantId, 'unwanted', KYC);
    const { body } = await routedAnswer(event);
    expect([body.endpoints, body.detail]).toEqual([
      { routed: 0, skipped: 0 },
      'The event was routed to no endpoints; no endpoints did not want it or could not get it.',
    ]);
  });

  test('an event in quarantine is told with the reason in words and what to do', async () => {
    const event = await quarantined('stranger');
    const { status, body } = await ask(idOf(event));
    expect([status, body.status, body.endpoints, body.routed_at]).toEqual([200, 'quarantined', null, null]);
    expect(body.quarantine).toEqual([
      {
        merchant_id: 'nobody-stranger',
        quarantined_at: expect.any(String),
        code: 'unknown_merchant',
        title: 'There is no such merchant',
        detail: 'the directory has no merchant nobody-stranger that takes events',
        remedy: expect.stringContaining('hookrail operator quarantine replay'),
      },
    ]);
  });

  test('an event that was put back is routed, and in quarantine no more', async () => {
    const event = await quarantined('comes-later');
    const { merchantId } = event.header;
    await api.store.merchants.create({ merchantId, name: 'Later', senderAccountDetails: false });
    await eventually('the directory has it', () => api.directory.merchant(merchantId));
    const kept = await api.broker.quarantine.list({
      limit: 1,
      matches: ({ eventId }) => eventId === idOf(event),
    });
    await api.broker.quarantine.requeue(kept.map(({ position }) => position));
    const { body } = await eventually('it is routed', async () => {
      const answer = await ask(idOf(event));
      return answer.body.status === 'routed' ? answer : undefined;
    });
    expect(body.quarantine).toEqual([]);
  });

  test('an id in upper case names the same event, another id no event', async () => {
    const event = jsonEventOf(api.merchantId, 'in upper case');
    await routedAnswer(event);
    expect((await ask(idOf(event).toUpperCase())).body.status).toBe('routed');
    const none = await ask(crypto.randomUUID());
    expect([none.status, none.body.code]).toEqual([404, 'event_not_found']);
  });
}

function rights(): void {
  test('a key sees what it published after it may no longer publish it', async () => {
    const { keyId, key } = await producerKey(api);
    const event = jsonEventOf(api.merchantId, 'own');
    await routedAnswer(event, key);
    const stranger = await quarantined('own-stranger', key);
    const by = { at: Date.now(), actor: { kind: 'operator', person: 'ann' } } as const;
    await api.store.keys.setRights(keyId, { types: ['AML'], merchants: ['another'] }, by);
    expect((await ask(idOf(event), key)).body.status).toBe('routed');
    expect((await ask(idOf(stranger), key)).body.status).toBe('quarantined');
  });

  test('a key hears nothing of what it may not publish: the answer is that of an unknown id', async () => {
    const event = jsonEventOf(api.merchantId, 'of another key', KYC);
    await routedAnswer(event);
    const stranger = await quarantined('of-another-key');
    const shownOf = async (eventId: string, key: string) => {
      const { status, headers, text, body } = await ask(eventId, key);
      return [status, headers.get('content-length'), text.replaceAll(body.request_id, '')];
    };
    for (const lists of [
      { merchants: [api.foreignMerchantId] },
      { types: ['AML'] as const, merchants: [api.merchantId] },
      { types: ['AML'] as const },
    ]) {
      const { key } = await producerKey(api, lists);
      const unknown = await shownOf(crypto.randomUUID(), key);
      expect(await shownOf(idOf(event), key)).toEqual(unknown);
      expect(await shownOf(idOf(stranger), key)).toEqual(unknown);
    }
  });

  test('a key sees what it could have published, by whatever way it came', async () => {
    const { key } = await producerKey(api, { types: ['KYC'], merchants: [api.merchantId] });
    const event = jsonEventOf(api.merchantId, 'of a colleague', KYC);
    await routedAnswer(event);
    expect((await ask(idOf(event), key)).body.status).toBe('routed');
    const onKafka = eventOf(api.merchantId, 'on kafka', { ...KYC, publishedBy: PUBLISHED_ON_KAFKA });
    await api.broker.publishEvents([onKafka]);
    await eventually('it is routed', async () => (await ask(onKafka.eventId, key)).status === 200);
    const ofMerchant = await producerKey(api, { merchants: ['nobody-shared'] });
    const stranger = await quarantined('shared');
    expect((await ask(idOf(stranger), ofMerchant.key)).body.status).toBe('quarantined');
  });

  test('a key whose event has the id of another sees its own, in quarantine', async () => {
    const first = jsonEventOf(api.merchantId, 'the first of an id');
    await routedAnswer(first);
    const { key } = await producerKey(api, { merchants: [api.foreignMerchantId] });
    const second = { ...first, header: { ...first.header, merchantId: api.foreignMerchantId } };
    expect((await publish(second, key)).body.results[0].code).toBe('event_id_conflict');
    const own = await ask(idOf(first), key);
    expect([own.body.status, own.body.merchant_id, own.body.quarantine.length]).toEqual([
      'quarantined',
      api.foreignMerchantId,
      1,
    ]);
    expect(own.text).not.toContain(api.merchantId);
    const both = await ask(idOf(first));
    expect([both.body.status, both.body.quarantine[0].code]).toEqual(['routed', 'event_id_conflict']);
  });
}

describe('one api', () => suite(startTestApi));

await describeWithPostgres('two apis on one PostgreSQL that answer in turn', (createDatabase) => {
  suite(onDatabase(createDatabase));
});

describe('while nothing is recorded', () => {
  let alone: TestApi;
  beforeAll(async () => {
    alone = await startTestApi();
    api = alone;
  });
  afterAll(() => alone.close());

  test('an event is accepted, and no more is said of it', async () => {
    const event = jsonEventOf(alone.merchantId, 'on its way');
    await publish(event);
    const { status, body } = await ask(idOf(event));
    expect([status, body.status, body.routed_at, body.endpoints]).toEqual([200, 'accepted', null, null]);
    expect(body.accepted_at).toEqual(expect.any(String));
    await routeEvents(alone);
    expect((await ask(idOf(event))).body.status).toBe('accepted');
    await recordJournal(alone);
    await eventually('it is routed', async () => (await ask(idOf(event))).body.status === 'routed');
  });

  test('an event of another key that is on its way is not there for a key that may not publish it', async () => {
    const event = jsonEventOf(alone.merchantId, 'secretly on its way', NO_SUCH_TYPE);
    await publish(event);
    const { key } = await producerKey(alone, { types: ['KYC'] });
    expect((await ask(idOf(event), key)).status).toBe(404);
  });

  test('a request counts for the limit of its key', async () => {
    const limited = await startTestApi({ rateLimitPerMinute: 1 });
    const path = `/producer/events/${crypto.randomUUID()}`;
    const statuses = [];
    for (let i = 0; i < 2; i += 1)
      statuses.push((await limited.call('GET', path, { key: limited.keys.producer })).status);
    await limited.close();
    expect(statuses).toEqual([404, 429]);
  });

  test('a quarantine that cannot be read is no event that does not exist', async () => {
    const broken = await startTestApi();
    broken.broker.quarantine.find = () => Promise.reject(new Error('no leader'));
    const answer = await broken.call('GET', `/producer/events/${crypto.randomUUID()}`, {
      key: broken.keys.producer,
    });
    await broken.close();
    expect([answer.status, answer.body.code]).toEqual([503, 'temporarily_unavailable']);
  });
});
