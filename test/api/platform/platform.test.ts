/**
 * The platform API: its operations do what the operator's commands do, once for a request that is repeated, and the audit has
 * the key and the person. On SQLite, and on two apis with one PostgreSQL that answer in turn.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newApiKey } from '../../../services/domain/api-key.ts';
import { PLATFORM_MERCHANT_ID } from '../../../services/domain/notices/notice.ts';
import { createKey } from '../../../services/management/keys.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { OPERATOR } from '../../../services/store/change.ts';
import {
  type CallOptions,
  ENDPOINTS,
  onDatabase,
  startTestApi,
  type TestApi,
  type TestApiOptions,
} from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { jsonEventOf } from '../../support/records/events.ts';

const MERCHANTS = '/platform/merchants';

let api: TestApi;
const platform = (method: string, path: string, options: CallOptions = {}) =>
  api.call(method, path, { key: api.keys.platform, ...options });
const newMerchant = async (name = 'Shop'): Promise<string> =>
  (await platform('POST', MERCHANTS, { json: { name } })).body.merchant_id;
const merchantKey = async (merchantId: string) =>
  (await platform('POST', `${MERCHANTS}/${merchantId}/api-keys`, { json: {} })).body;

function platformSuite(start: (options: TestApiOptions) => Promise<TestApi>): void {
  beforeAll(async () => {
    api = await start({});
  });
  afterAll(() => api.close());
  merchantTests();
  keyTests();
  closeTests();
  personTests();
  replayTests();
}

function merchantTests(): void {
  test('a merchant is created once for a repeated request, and not with an id that is taken', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const create = (json: object) => platform('POST', MERCHANTS, { json, headers });
    const first = await create({ name: 'Acme' });
    const again = await create({ name: 'Acme' });
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await create({ name: 'Apex' })).body.code).toBe('idempotency_key_reused');
    const { merchant_id } = first.body;
    const taken = await platform('POST', MERCHANTS, { json: { name: 'Apex', merchant_id } });
    expect([taken.status, taken.body.code]).toEqual([409, 'merchant_exists']);
    const read = await platform('GET', `${MERCHANTS}/${merchant_id}`);
    expect(read.body).toEqual({ merchant_id, name: 'Acme', state: 'active', sender_account_details: false });
  });

  test('merchants are listed in pages, and by their state', async () => {
    const made = [await newMerchant(), await newMerchant(), await newMerchant()];
    await platform('POST', `${MERCHANTS}/${made[1]}/pause`);
    const seen: string[] = [];
    for (let path: string | null = `${MERCHANTS}?limit=2`; path !== null; ) {
      const { body } = await platform('GET', path);
      seen.push(...body.data.map((each: { merchant_id: string }) => each.merchant_id));
      path = body.next_cursor && `${MERCHANTS}?limit=2&cursor=${body.next_cursor}`;
    }
    expect(seen.filter((id) => made.includes(id))).toEqual(made);
    const { body } = await platform('GET', `${MERCHANTS}?state=paused`);
    expect(body.data.map((each: { merchant_id: string }) => each.merchant_id)).toEqual([made[1]]);
    const wrong = await platform('GET', `${MERCHANTS}?cursor=nonsense`);
    expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/query/cursor']);
  });

  test('a hold, its end and a change reach the directory, with the reason in the audit', async () => {
    const id = await newMerchant();
    const known = () => api.directory.merchant(id);
    await platform('POST', `${MERCHANTS}/${id}/pause`, { json: { reason: 'it moves' } });
    await eventually('the merchant is on hold', () => known()?.state === 'paused');
    await platform('POST', `${MERCHANTS}/${id}/resume`);
    await platform('PATCH', `${MERCHANTS}/${id}`, { json: { name: 'Apex', sender_account_details: true } });
    await eventually('the change is in force', () => known()?.senderAccountDetails === true);
    expect(known()).toMatchObject({ state: 'active', name: 'Apex' });
    const [, , paused] = await api.store.audit.list({ merchantId: id, limit: 10 });
    expect(paused?.details).toEqual({ state: 'paused', reason: 'it moves' });
  });
}

function keyTests(): void {
  test('a key is shown once, opens its merchant’s operations, and nothing once it is revoked', async () => {
    const id = await newMerchant();
    const keys = `${MERCHANTS}/${id}/api-keys`;
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const made = await platform('POST', keys, { json: { name: 'backend' }, headers });
    expect((await platform('POST', keys, { json: { name: 'backend' }, headers })).body).toEqual(made.body);
    const { key, ...shown } = made.body;
    expect((await api.call('GET', ENDPOINTS, { key })).body.data).toEqual([]);
    const listed = await platform('GET', keys);
    expect(listed.body.data).toEqual([{ ...shown, last_used_at: expect.toSatisfy(() => true) }]);
    expect(listed.text).not.toContain(key);
    const foreign = `${MERCHANTS}/${api.merchantId}/api-keys/${shown.api_key_uuid}`;
    const notIts = await platform('DELETE', foreign);
    expect([notIts.status, notIts.body?.code]).toEqual([404, 'api_key_not_found']);
    expect((await platform('DELETE', `${keys}/${shown.api_key_uuid}`)).status).toBe(204);
    expect((await platform('DELETE', `${keys}/${shown.api_key_uuid}`)).body.code).toBe('api_key_not_found');
    expect((await api.call('GET', ENDPOINTS, { key })).body.code).toBe('api_key_invalid');
  });

  test('a key of the platform from before there were scopes makes links, and nothing else', async () => {
    const deps = { ...api, random: systemRandom, actor: OPERATOR, environment: 'sandbox' } as const;
    const { text: key } = await createKey(deps, { kind: 'platform', merchantId: null, name: null });
    const sessions = `${MERCHANTS}/${api.merchantId}/portal-sessions`;
    expect((await api.call('POST', sessions, { key, json: {} })).status).toBe(201);
    const refused = await api.call('GET', MERCHANTS, { key });
    expect([refused.status, refused.body.scope]).toEqual([403, 'merchants:read']);
    // The scope is judged before the body, and the key before the scope.
    expect((await api.call('POST', MERCHANTS, { key, json: {} })).status).toBe(403);
    const unknown = newApiKey('platform', 'sandbox', systemRandom.bytes(32));
    expect((await api.call('POST', MERCHANTS, { key: unknown, json: {} })).status).toBe(401);
  });
}

function closeTests(): void {
  test('a closed merchant has no key, no endpoint and no session, takes no events and stays closed', async () => {
    const id = await newMerchant();
    const { key } = await merchantKey(id);
    const endpoint = { url: 'https://hooks.merchant.com/closed', description: 'A test' };
    expect((await api.call('POST', ENDPOINTS, { key, json: endpoint })).status).toBe(201);
    await platform('POST', `${MERCHANTS}/${id}/portal-sessions`, { json: {} });
    const publish = () =>
      api.call('POST', '/producer/events', {
        key: api.keys.producer,
        json: jsonEventOf(id, crypto.randomUUID()),
      });
    await eventually('the endpoint is in force', () => [...api.directory.endpointsOf(id)].length === 1);
    expect((await publish()).status).toBe(202);

    const closing = () => platform('POST', `${MERCHANTS}/${id}/close`, { json: { reason: 'it left' } });
    const closed = await closing();
    expect([closed.status, closed.body.state]).toEqual([200, 'closed']);
    expect((await api.call('GET', ENDPOINTS, { key })).body.code).toBe('api_key_invalid');
    await eventually('the directory has no endpoint', () => [...api.directory.endpointsOf(id)].length === 0);
    await eventually('the directory has it closed', () => api.directory.merchant(id)?.state === 'closed');
    expect((await publish()).text).toContain('unknown_merchant');

    for (const [path, json] of [
      ['pause', {}],
      ['resume', {}],
      ['api-keys', {}],
      ['portal-sessions', {}],
    ] as const) {
      const refused = await platform('POST', `${MERCHANTS}/${id}/${path}`, { json });
      expect([path, refused.status, refused.body.code]).toEqual([path, 409, 'merchant_closed']);
    }
    const before = (await api.store.audit.list({ merchantId: id, limit: 100 })).length;
    expect((await closing()).body).toEqual(closed.body);
    expect((await api.store.audit.list({ merchantId: id, limit: 100 })).length).toBe(before);
  });

  test('the platform itself is made and listed like a merchant, and is not closed', async () => {
    const merchant = { merchant_id: PLATFORM_MERCHANT_ID, name: 'The platform' };
    expect((await platform('POST', `${MERCHANTS}/${PLATFORM_MERCHANT_ID}/close`)).status).toBe(404);
    expect((await platform('POST', MERCHANTS, { json: merchant })).status).toBe(201);
    const { key } = await merchantKey(PLATFORM_MERCHANT_ID);
    const json = { url: 'https://ops.example.com/hooks', description: 'Operations', kind: 'operational' };
    expect((await api.call('POST', ENDPOINTS, { key, json })).status).toBe(201);
    const refused = await platform('POST', `${MERCHANTS}/${PLATFORM_MERCHANT_ID}/close`, {
      json: { erase: true },
    });
    expect([refused.status, refused.body.code]).toEqual([409, 'platform_merchant_stays']);
    const list = `/platform/webhook-endpoints?merchant_id=${PLATFORM_MERCHANT_ID}`;
    expect((await platform('GET', list)).body.data).toMatchObject([{ kind: 'operational', format: 'json' }]);
    const read = await platform('GET', `${MERCHANTS}/${PLATFORM_MERCHANT_ID}`);
    expect(read.body).toMatchObject({ ...merchant, state: 'active' });
  });
}

function personTests(): void {
  const named = (header: string) =>
    platform('POST', MERCHANTS, { json: { name: 'Shop' }, headers: { 'on-behalf-of': header } });

  test('the audit has the person for whom the platform asks, beside the key', async () => {
    const { body } = await named('Ann%20%C3%84g%C3%A4is');
    const [entry] = await api.store.audit.list({ merchantId: body.merchant_id, limit: 1 });
    expect(entry?.actor).toMatchObject({ keyId: api.keyIds.platform, person: 'Ann Ägäis' });
  });

  test.each(['%20', '%ff', '%', '%0A', 'a'.repeat(101), '%E2%80%A8'])(
    'a person who cannot be shown in a line is refused, and changes nothing: %s',
    async (header) => {
      const before = (await platform('GET', `${MERCHANTS}?limit=100`)).body.data.length;
      const { status, body } = await named(header);
      expect([status, body.code, body.errors[0].pointer]).toEqual([
        400,
        'validation_error',
        '/headers/on-behalf-of',
      ]);
      expect((await platform('GET', `${MERCHANTS}?limit=100`)).body.data.length).toBe(before);
    },
  );
}

function replayTests(): void {
  test('an incident is counted, replayed by one replay at a time, and cancelled once', async () => {
    const id = await newMerchant();
    const since = new Date(api.clock.wall() - 3_600_000).toISOString();
    const json = { since, only: 'missing', merchant_id: id };
    const counted = await platform('POST', '/platform/replays', { json: { ...json, dry_run: true } });
    expect(counted.body).toMatchObject({ dry_run: true, count: 0, merchant_id: id, endpoint_uuid: null });
    const at = api.clock.wall();
    // So that the replay stays.
    await api.replayer.stop();
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const started = await platform('POST', '/platform/replays', { json, headers });
    expect((await platform('POST', '/platform/replays', { json, headers })).body).toEqual(started.body);
    const second = await platform('POST', '/platform/replays', { json });
    expect([second.status, second.body.code, second.body.replay_uuid]).toEqual([
      ...[409, 'incident_replay_running'],
      started.body.replay_uuid,
    ]);
    expect(Date.parse(started.body.until)).toBeGreaterThanOrEqual(Math.floor(at));
    const one = `/platform/replays/${started.body.replay_uuid}`;
    expect((await platform('GET', one)).body).toEqual(started.body);
    const { body: list } = await platform('GET', '/platform/replays?limit=1');
    expect(list.data).toEqual([started.body]);
    const cancelled = await platform('POST', `${one}/cancel`);
    expect(cancelled.body).toMatchObject({ status: 'cancelled', cancel_reason: 'operator' });
    expect((await platform('POST', `${one}/cancel`)).body.code).toBe('replay_ended');
    const unknown = `/platform/replays/${crypto.randomUUID()}`;
    expect((await platform('GET', unknown)).body.code).toBe('incident_replay_not_found');
  });

  test('an incident of no time, or of a merchant that is unknown or closed, is refused', async () => {
    const json = { since: '2100-01-01T00:00:00Z', only: 'missing' };
    expect((await platform('POST', '/platform/replays', { json })).body.code).toBe('empty_period');
    const past = { ...json, since: '2020-01-01T00:00:00Z' };
    const of = (merchant_id: string) =>
      platform('POST', '/platform/replays', { json: { ...past, merchant_id } });
    expect((await of(crypto.randomUUID())).body.code).toBe('merchant_not_found');
    const id = await newMerchant();
    await platform('POST', `${MERCHANTS}/${id}/close`);
    expect((await of(id)).body.code).toBe('merchant_closed');
  });
}

describe('the platform API', () => platformSuite(startTestApi));

await describeWithPostgres('the platform API of two apis on one PostgreSQL', (createDatabase) => {
  platformSuite(onDatabase(createDatabase));
});
