/**
 * The platform API on what the broker keeps for operators: its operations do what the operator's commands do on the
 * quarantine and on dead letters. On SQLite, and on two apis with one PostgreSQL that answer in turn.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CallOptions,
  onDatabase,
  startTestApi,
  type TestApi,
  type TestApiOptions,
} from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { anEvent, aTask } from '../../support/records/broker-records.ts';
import { giveUp, putAside } from '../../support/records/put-aside.ts';

const QUARANTINE = '/platform/quarantine';
const MANY = '/platform/quarantine-replays';

let api: TestApi;
const platform = (method: string, path: string, options: CallOptions = {}) =>
  api.call(method, path, { key: api.keys.platform, ...options });
const ofOwn = (over: Parameters<typeof anEvent>[0] = {}) => anEvent({ merchantId: api.merchantId, ...over });
const replay = (id: string, options: CallOptions = {}) =>
  platform('POST', `${QUARANTINE}/${id}/replay`, options);
const many = (json: object, headers = {}) => platform('POST', MANY, { json, headers });
const idsIn = async (query: string): Promise<string[]> =>
  (await platform('GET', `${QUARANTINE}${query}`)).body.data.map(
    (each: { quarantine_id: string }) => each.quarantine_id,
  );
const newestEntry = async () => (await api.store.audit.list({ limit: 1 }))[0];
/** The events that wait for a router, which then has taken them. */
async function routedNow(): Promise<string[]> {
  const taken: string[] = [];
  const consumer = await api.broker.events.consume(
    ({ decoded }) => {
      if (decoded.ok) taken.push(decoded.event.eventId);
      return { kind: 'repeated' };
    },
    { inFlightMax: 10 },
  );
  await eventually('nothing waits', () => api.broker.status().backlog.events === 0);
  await consumer.stop(1000);
  return taken;
}

function quarantineSuite(start: (options: TestApiOptions) => Promise<TestApi>): void {
  beforeAll(async () => {
    api = await start({});
  });
  afterAll(() => api.close());
  lookTests();
  replayTests();
  manyTests();
  conflictTests();
  deadLetterTests();
}

function lookTests(): void {
  test('records are listed in pages, oldest first, by every filter, without their content', async () => {
    const stranger = crypto.randomUUID();
    const event = anEvent({ merchantId: stranger });
    const { entityId, eventId } = event;
    const first = await putAside(api.broker, event, { entityId, type: event.type });
    const second = await putAside(api.broker, anEvent({ merchantId: stranger }), { reason: 'render_failed' });
    const of = `?merchant_id=${stranger}`;
    const page = await platform('GET', `${QUARANTINE}${of}&limit=1`);
    expect(page.body).toMatchObject({ has_more: true, data: [{ quarantine_id: first }] });
    expect(await idsIn(`${of}&cursor=${page.body.next_cursor}`)).toEqual([second]);
    expect(await idsIn(of)).toEqual([first, second]);
    expect(await idsIn(`${of}&reason=render_failed`)).toEqual([second]);
    expect(await idsIn(`?about=${eventId}`)).toEqual([first]);
    expect(await idsIn(`?about=${entityId}`)).toEqual([first]);
    expect(await idsIn(`${of}&since=2100-01-01T00:00:00Z`)).toEqual([]);
    expect(page.body.data[0]).toMatchObject({
      ...{ reason: 'unknown_merchant', event_uuid: eventId, merchant_id: stranger, type: event.type },
      ...{ entity_uuid: entityId, subject_uuid: entityId, new_event_uuid: null },
      remedy: expect.stringContaining('merchant'),
    });
    expect(page.text).not.toContain('amountFiat');
    for (const cursor of ['nonsense', Buffer.from('1e0').toString('base64url'), '!']) {
      const wrong = await platform('GET', `${QUARANTINE}?cursor=${cursor}`);
      expect([cursor, wrong.status, wrong.body.errors?.[0].pointer]).toEqual([cursor, 400, '/query/cursor']);
    }
  });

  test('a record is shown in clear text with its fault, and the audit has who read it', async () => {
    const event = anEvent({ merchantId: crypto.randomUUID() });
    const id = await putAside(api.broker, event);
    const headers = { 'on-behalf-of': 'Ann' };
    const { status, body } = await platform('GET', `${QUARANTINE}/${id}`, { headers });
    expect([status, body.event.data]).toEqual([200, event.data]);
    expect(body).toMatchObject({
      ...{ quarantine_id: id, task: null, journal: null, unreadable: null, kafka_record: null },
      faults: [{ pointer: '/header/merchantId', detail: 'no such merchant' }],
      would_return: expect.stringContaining(`no merchant ${event.merchantId}`),
    });
    expect(Buffer.from(body.base64, 'base64').toString()).toContain(event.eventId);
    expect(await newestEntry()).toMatchObject({
      action: 'quarantine.show',
      merchantId: event.merchantId,
      actor: { keyId: api.keyIds.platform, person: 'Ann' },
      details: { position: id, eventId: event.eventId },
    });
    expect(await idsIn(`?about=${event.eventId}`)).toEqual([id]);
  });

  test('a record that cannot be read is shown as its bytes, with the reason why', async () => {
    const event = ofOwn();
    const bytes = Buffer.from(`no JSON ${event.eventId}`);
    const id = await putAside(api.broker, event, { reason: 'undecodable', bytes });
    const { body } = await platform('GET', `${QUARANTINE}/${id}`);
    expect(body).toMatchObject({ event: null, faults: [], unreadable: expect.stringContaining('bytes') });
    expect(Buffer.from(body.base64, 'base64')).toEqual(bytes);
    const refused = await replay(id);
    expect([refused.status, refused.body.code]).toEqual([409, 'quarantined_stays']);
  });
}

function replayTests(): void {
  test('a record is put back once for a repeated request, and is gone then', async () => {
    const event = ofOwn();
    const id = await putAside(api.broker, event, { reason: 'render_failed' });
    const headers = { 'idempotency-key': crypto.randomUUID(), 'on-behalf-of': 'Ann' };
    const first = await replay(id, { headers });
    expect([first.status, first.body]).toEqual([202, { quarantine_id: id, new_event_uuid: null }]);
    expect(await newestEntry()).toMatchObject({
      action: 'quarantine.replay',
      actor: { keyId: api.keyIds.platform, person: 'Ann' },
      details: { records: 1, positions: [id] },
    });
    const again = await replay(id, { headers });
    expect([again.status, again.body]).toEqual([202, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const without = await replay(id);
    expect([without.status, without.body.code]).toEqual([404, 'quarantined_not_found']);
    expect(await routedNow()).toEqual([event.eventId]);
  });

  test('a record that would be quarantined again stays, until its cause is mended', async () => {
    const stranger = crypto.randomUUID();
    const id = await putAside(api.broker, anEvent({ merchantId: stranger }));
    const refused = await replay(id);
    expect([refused.status, refused.body.code]).toEqual([409, 'quarantined_stays']);
    expect(refused.body.detail).toContain(`no merchant ${stranger}`);
    expect(await idsIn(`?merchant_id=${stranger}`)).toEqual([id]);
    await platform('POST', '/platform/merchants', { json: { merchant_id: stranger, name: 'Known now' } });
    expect((await replay(id)).status).toBe(202);
    expect(await idsIn(`?merchant_id=${stranger}`)).toEqual([]);
  });
}

function manyTests(): void {
  test('many are counted first, and then put back: those that pass the filter, but for refused ones', async () => {
    await routedNow();
    const events = [ofOwn(), ofOwn()];
    for (const event of events) await putAside(api.broker, event, { reason: 'write_refused' });
    const strange = await putAside(api.broker, anEvent({ merchantId: crypto.randomUUID() }), {
      reason: 'write_refused',
    });
    const other = await putAside(api.broker, ofOwn(), { reason: 'render_failed' });
    const before = (await newestEntry())?.cursor;
    const counted = await many({ reason: 'write_refused', dry_run: true });
    const refusals = [{ quarantine_id: strange, detail: expect.stringContaining('no merchant') }];
    const result = { replayed: 2, conflicts_left_out: 0, refused: 1, refusals, new_events: [] };
    expect([counted.status, counted.body]).toEqual([200, { dry_run: true, ...result }]);
    expect((await newestEntry())?.cursor).toBe(before);
    expect(await idsIn('?reason=write_refused')).toHaveLength(3);
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const done = await many({ reason: 'write_refused' }, headers);
    expect([done.status, done.body]).toEqual([202, { dry_run: false, ...result }]);
    expect((await many({ reason: 'write_refused' }, headers)).body).toEqual(done.body);
    expect(await idsIn('?reason=write_refused')).toEqual([strange]);
    expect(await routedNow()).toEqual(events.map(({ eventId }) => eventId));
    const named = await many({ quarantine_ids: [other, '999999999', 'none'] });
    expect(named.body).toMatchObject({ replayed: 1, refused: 0 });
  });

  test.each([
    {},
    { all: false },
    { as_new_event: true },
    { quarantine_ids: ['1'], all: true },
    { quarantine_ids: ['1'], about: 'x' },
  ])('it must be said which records, in one way: %o', async (json) => {
    const refused = await many(json);
    expect([refused.status, refused.body.code]).toEqual([422, 'records_not_chosen']);
  });
}

function conflictTests(): void {
  test('a conflict of ids is left out of many, refused by its id, and published under a new id', async () => {
    await routedNow();
    const conflict = { reason: 'event_id_conflict' } as const;
    const event = ofOwn();
    const id = await putAside(api.broker, event, conflict);
    const { body: look } = await platform('GET', `${QUARANTINE}/${id}`);
    expect(look.would_return).toContain('as_new_event');
    expect((await many(conflict)).body).toMatchObject({ replayed: 0, conflicts_left_out: 1, refused: 0 });
    const refused = await replay(id);
    expect([refused.status, refused.body.code]).toEqual([409, 'quarantined_stays']);
    expect(refused.body.detail).toContain('as_new_event');
    const made = await replay(id, { json: { as_new_event: true } });
    expect([made.status, made.body.new_event_uuid]).toEqual([202, look.new_event_uuid]);
    expect(await routedNow()).toEqual([look.new_event_uuid]);
    const second = ofOwn();
    const secondId = await putAside(api.broker, second, conflict);
    expect((await many({ ...conflict, as_new_event: true })).body.new_events).toEqual([
      { quarantine_id: secondId, event_uuid: second.eventId, new_event_uuid: expect.any(String) },
    ]);
  });
}

function deadLetterTests(): void {
  test('dead letters are listed in pages, oldest first, of all merchants or one, without their bodies', async () => {
    const of = (merchantId: string) => {
      const ids = { eventId: crypto.randomUUID(), endpointId: crypto.randomUUID() };
      return aTask({ ...ids, merchantId, attempt: 7 });
    };
    const tasks = [of(api.merchantId), of(api.foreignMerchantId), of(api.merchantId)];
    await giveUp(api.broker, tasks);
    const seen: string[] = [];
    const list = `/platform/dead-letters?merchant_id=${api.merchantId}&limit=1`;
    for (let path: string | null = list; path !== null; ) {
      const { body, text } = await platform('GET', path);
      expect(text).not.toContain('body');
      seen.push(...body.data.map((each: { delivery_uuid: string }) => each.delivery_uuid));
      path = body.next_cursor && `${list}&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual([tasks[0]?.deliveryId, tasks[2]?.deliveryId]);
    const { body: all } = await platform('GET', '/platform/dead-letters');
    expect(all.data).toHaveLength(3);
    expect(all.data[1]).toMatchObject({
      ...{ merchant_id: api.foreignMerchantId, reason: 'exhausted', failure_code: 'http_5xx' },
      attempts_made: 7,
    });
    const unknown = await platform('GET', `/platform/dead-letters?merchant_id=${crypto.randomUUID()}`);
    expect([unknown.status, unknown.body.code]).toEqual([404, 'merchant_not_found']);
  });
}

describe('the quarantine in the platform API', () => quarantineSuite(startTestApi));

await describeWithPostgres('the quarantine in the platform API of two apis', (createDatabase) => {
  quarantineSuite(onDatabase(createDatabase));
});
