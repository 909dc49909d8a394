/**
 * POST /producer/events: all events or none are accepted, they are durable when answered, and a repeat is no second
 * event.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ReceivedEvent } from '../../../services/broker/broker.ts';
import type { EventJson } from '../../../services/codec/event-json.ts';
import { type EventType, eventAsText } from '../../../services/domain/event.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { merchantChange } from '../../support/records/broker-records.ts';
import { eventOf, jsonEventOf } from '../../support/records/events.ts';

let api: TestApi;
const received: ReceivedEvent[] = [];
beforeAll(async () => {
  api = await startTestApi();
  await api.broker.events.consume(
    (input) => {
      received.push(input);
      if (!input.decoded.ok) throw new Error('not decoded');
      const event = eventAsText(input.decoded.event);
      const now = Date.now();
      return {
        kind: 'routed',
        tasks: [],
        journal: {
          ...{ kind: 'routed', at: now, acceptedAt: input.acceptedAt, event, subjectId: null },
          ...{ bodies: [], trace: [] },
        },
      };
    },
    { inFlightMax: 100 },
  );
});
afterAll(() => api.close());

const publish = (json: unknown) => api.call('POST', '/producer/events', { json, key: api.keys.producer });
const has = (eventId: string) =>
  received.some(({ decoded }) => decoded.ok && decoded.event.eventId === eventId);

test('POST /producer/events puts one event or an array on the stream as it was sent', async () => {
  const event = eventOf(api.merchantId, 'one');
  const answer = await publish(jsonEventOf(api.merchantId, 'one'));
  expect(answer.status).toBe(202);
  expect(answer.body).toEqual({
    accepted: 1,
    duplicates: 0,
    quarantined: 0,
    results: [{ event_id: event.eventId, status: 'accepted' }],
  });
  const input = await eventually('the event is on the stream', () =>
    received.find(({ decoded }) => decoded.ok && decoded.event.eventId === event.eventId),
  );
  const sequence = expect.any(Number);
  expect(input.decoded).toEqual({
    ok: true,
    event: { ...event, publishedBy: api.keyIds.producer, sequence },
  });
  const batch = Array.from({ length: 500 }, (_, i) => jsonEventOf(api.merchantId, `batch-${i}`));
  expect((await publish(batch)).body.accepted).toBe(500);
});

test('POST /producer/events passes a well-formed traceparent to the broker, and ignores another', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const calls = vi.spyOn(api.broker, 'publishEvents');
  for (const headers of [{ traceparent }, { traceparent: 'nonsense' }, {}]) {
    const json = jsonEventOf(api.merchantId, 'traced');
    const options = { json, headers, key: api.keys.producer };
    expect((await api.call('POST', '/producer/events', options)).status).toBe(202);
  }
  expect(calls.mock.calls.map(([, options]) => options?.traceparent)).toEqual([
    traceparent,
    undefined,
    undefined,
  ]);
  calls.mockRestore();
});

test('POST /producer/events reports a repeated event as duplicate, and quarantines other content with its id', async () => {
  const first = jsonEventOf(api.merchantId, 'twice');
  await publish(first);
  expect((await publish([first, first])).body).toMatchObject({ accepted: 0, duplicates: 2 });
  const other = { ...first, header: { ...first.header, entityId: crypto.randomUUID() } };
  const answer = await publish([other]);
  expect(answer.body).toMatchObject({ accepted: 0, duplicates: 0, quarantined: 1 });
  expect(answer.body.results).toEqual([
    {
      event_id: first.header.eventId,
      status: 'quarantined',
      code: 'event_id_conflict',
      title: 'Another event has this id',
      detail: 'Another event with this id and different content came before.',
      remedy: 'Give each event an id of its own: publish this one under a new id.',
    },
  ]);
});

test('POST /producer/events says `quarantined` of an event that no router will route, and only of that', async () => {
  const stranger = jsonEventOf(crypto.randomUUID(), 'stranger');
  const known = jsonEventOf(api.merchantId, 'known');
  const merchantId = crypto.randomUUID();
  // The directory does not get to know it.
  api.directory.apply({ kind: 'merchant', id: merchantId, version: 1_000_000, value: null });
  await api.store.merchants.create({ merchantId, name: 'New', senderAccountDetails: false });
  const fresh = jsonEventOf(merchantId, 'fresh');
  const onlyInDirectory = crypto.randomUUID();
  await api.broker.publishDirectory([merchantChange(onlyInDirectory, 1)]);
  const kept = jsonEventOf(onlyInDirectory, 'kept');
  await eventually('the directory has it', () => api.directory.merchant(onlyInDirectory));
  const answer = await publish([stranger, known, fresh, kept]);
  expect(answer.body).toEqual({
    accepted: 3,
    duplicates: 0,
    quarantined: 1,
    results: [
      {
        event_id: stranger.header.eventId,
        status: 'quarantined',
        code: 'unknown_merchant',
        title: 'There is no such merchant',
        detail: `There is no merchant "${stranger.header.merchantId}".`,
        remedy: expect.stringContaining('have the operator create the merchant and put the event back'),
      },
      ...[known, fresh, kept].map(({ header }) => ({ event_id: header.eventId, status: 'accepted' })),
    ],
  });
  await eventually('the others are on the stream', () =>
    [known, fresh, kept].every(({ header }) => has(header.eventId)),
  );
  const quarantine = await api.broker.quarantine.list({
    limit: 10,
    matches: ({ eventId }) => eventId === stranger.header.eventId,
  });
  expect(quarantine.map(({ record }) => record.reason)).toEqual(['unknown_merchant']);
  expect(has(stranger.header.eventId)).toBe(false);
  // Its id counts as known: a repeat is no second event.
  expect((await publish(stranger)).body.results[0].status).toBe('duplicate');
});

test('POST /producer/events quarantines simulated events in production at once', async () => {
  const production = await startTestApi({ environment: 'production' });
  const events = [true, false].map((simulated) => {
    const event = jsonEventOf(production.merchantId, `simulated: ${simulated}`);
    return { ...event, header: { ...event.header, simulated } };
  });
  const { producer } = production.keys;
  const { body } = await production.call('POST', '/producer/events', { json: events, key: producer });
  expect(
    body.results.map((result: { status: string; code?: string }) => [result.status, result.code]),
  ).toEqual([
    ['quarantined', 'simulated_in_production'],
    ['accepted', undefined],
  ]);
  await production.close();
});

/** One fault of content each, with the place and a part of the text that the answer has. */
const FAULTS_OF_CONTENT: readonly [string, (event: EventJson) => EventJson, string, string][] = [
  ['U+0000 in the merchant', inHeader({ merchantId: 'a\u0000b' }), '/header/merchantId', 'U+0000'],
  ['U+0000 in a text', inData({ chain: '\u0000' }), '/data/chain', 'U+0000'],
  [
    'U+0000 in an inner text',
    inData({ senderDetails: { senderName: 'A\u0000', senderCountry: 'DE' } }),
    '/data/senderDetails/senderName',
    'U+0000',
  ],
  ['a status of another subType', inData({ status: 'PENDING' }), '/data/status', 'a value of PENDING'],
  ['the reason of a hold', inData({ status: 'ON_HOLD_KYC' }), '/data/status', 'a value of ON_HOLD'],
  ['the name of another subType', inData({ status: 'ON_HOLD' }), '/data/status', 'a value of ON_HOLD'],
  [
    'the status UNBLOCKED on BLOCKED',
    contradictory('entityStatusUpdate', 'BLOCKED', 'UNBLOCKED'),
    '/data/status',
    'must not be UNBLOCKED on BLOCKED: that is a value of UNBLOCKED',
  ],
  [
    'the status KYC_NEEDED on FULL_USER',
    contradictory('KYC', 'FULL_USER', 'KYC_NEEDED'),
    '/data/status',
    'must not be KYC_NEEDED on FULL_USER: that is a value of KYC_NEEDED',
  ],
  ['seconds', inHeader({ occurredAt: 1_764_000_000 }), '/header/occurredAt', 'looks like seconds'],
  ['microseconds', inHeader({ occurredAt: 1_764_000_000_000_000 }), '/header/occurredAt', 'microseconds'],
  ['seconds as text', inHeader({ occurredAt: '1970-01-21T10:00:00Z' }), '/header/occurredAt', 'seconds'],
  [
    'two days ahead',
    inHeader({ occurredAt: Date.now() + 2 * 86_400_000 }),
    '/header/occurredAt',
    'day ahead',
  ],
];

function inHeader(change: object) {
  return (event: EventJson): EventJson => ({ ...event, header: { ...event.header, ...change } });
}

function inData(change: EventJson['data']) {
  return (event: EventJson): EventJson => ({ ...event, data: { ...event.data, ...change } });
}

/** An event of another type with the status of another subType. */
function contradictory(type: EventType, subType: string, status: string) {
  return ({ header }: EventJson): EventJson =>
    inData({ status })(jsonEventOf(header.merchantId, header.eventId, { type, subType }));
}

test.each(FAULTS_OF_CONTENT)(
  'POST /producer/events refuses an event alone with %s, and quarantines it alone in an array',
  async (what, faulty, pointer, part) => {
    const bad = faulty(jsonEventOf(api.merchantId, what));
    const alone = await publish(bad);
    expect([alone.status, alone.body.code]).toEqual([400, 'validation_error']);
    expect(alone.body.errors).toEqual([
      { pointer, code: 'invalid_value', detail: expect.stringContaining(part) },
    ]);
    const good = jsonEventOf(api.merchantId, `beside ${what}`);
    const { status, body } = await publish([good, bad]);
    expect([status, body.accepted, body.quarantined]).toEqual([202, 1, 1]);
    expect(body.results[1]).toMatchObject({ status: 'quarantined', code: 'schema_violation' });
    expect(body.results[1].detail).toContain(pointer);
    expect(body.results[1].detail).toContain(part);
    const [kept] = await api.broker.quarantine.list({
      limit: 1,
      matches: ({ eventId }) => eventId === bad.header.eventId,
    });
    expect(kept?.record).toMatchObject({ reason: 'schema_violation' });
    expect(kept?.record.detail).toContain(part);
    await eventually('the other event is on the stream', () => has(good.header.eventId));
    expect(has(bad.header.eventId)).toBe(false);
  },
);

test('POST /producer/events refuses a status update about somebody else than its entity', async () => {
  const event = jsonEventOf(api.merchantId, 'another', { type: 'entityStatusUpdate', subType: 'BLOCKED' });
  const other = await publish({ ...event, data: { ...event.data, uuid: crypto.randomUUID() } });
  expect(other.body.errors).toEqual([expect.objectContaining({ pointer: '/data/uuid' })]);
  const same = { ...event, data: { ...event.data, uuid: event.header.entityId.toUpperCase() } };
  expect((await publish(same)).body.results[0]).toMatchObject({ status: 'accepted' });
});

test('POST /producer/events accepts times from 2009 to a day ahead, and a status that nobody knows', async () => {
  const times = [Date.UTC(2009, 0, 1), Date.now(), Date.now() + 23 * 3_600_000];
  const events = times.map((occurredAt) =>
    inHeader({ occurredAt })(jsonEventOf(api.merchantId, `at ${occurredAt}`)),
  );
  const unknown = inData({ status: 'NEW_STATUS' })(jsonEventOf(api.merchantId, 'a new status'));
  expect((await publish([...events, unknown])).body).toMatchObject({ accepted: 4, quarantined: 0 });
});

test('POST /producer/events refuses all events for one invalid one, and names its fields', async () => {
  const good = jsonEventOf(api.merchantId, 'good');
  const bad = jsonEventOf(api.merchantId, 'bad');
  const answer = await publish([good, { ...bad, data: { ...bad.data, amountFiat: 12.5 } }]);
  expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
  expect(answer.body.errors[0]).toMatchObject({ pointer: '/1/data/amountFiat' });
  expect(answer.body.detail).toContain('No event of the request was accepted');
  const alone = await publish({ ...bad, data: { ...bad.data, amountFiat: 12.5 } });
  expect(alone.body.errors[0].pointer).toBe('/data/amountFiat');
  await publish(jsonEventOf(api.merchantId, 'after'));
  await eventually('the next event is on the stream', () => has(eventOf(api.merchantId, 'after').eventId));
  expect(has(eventOf(api.merchantId, 'good').eventId)).toBe(false);
});

test.each([
  ['nothing', []],
  ['too many', Array.from({ length: 501 }, () => ({}))],
  ['null', null],
  ['a text', 'x'],
  ['no event', {}],
])('POST /producer/events answers 400 to %s', async (_what, json) => {
  const answer = await publish(json);
  expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
  expect(answer.body.errors.length).toBeLessThanOrEqual(100);
});

test('POST /producer/events refuses a missing body, a body that is too large, and one that is not JSON', async () => {
  const key = api.keys.producer;
  expect((await api.call('POST', '/producer/events', { key })).body.code).toBe('validation_error');
  const large = await api.call('POST', '/producer/events', { key, raw: `["${'x'.repeat(1024 * 1024)}"]` });
  expect([large.status, large.body.code]).toEqual([413, 'payload_too_large']);
  const broken = await api.call('POST', '/producer/events', { key, raw: '[{' });
  expect([broken.status, broken.body.code]).toEqual([400, 'malformed_json']);
});
