/**
 * The operator's maintenance by the tool, against a whole running service: keys, the audit log, the key ring, the
 * erasure of an entity.
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
const resource = '/merchant/webhook-endpoints';

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent', HOOKRAIL_RETRY_SCALE: '100' });
  receiver = await startLoggingReceiver(setup.receiverCert, ({ path }) => (path === '/gone' ? 410 : 200));
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const operator = (...argv: string[]) => runTool(besides(setup.environment, hookrail), ...argv);
const json = (...argv: string[]) => toolAnswer(besides(setup.environment, hookrail), ...argv);

test('an API key has a name, shows when it was last used, and opens nothing once revoked', async () => {
  const made = await json('keys', 'create', '--merchant', setup.merchantId, '--name', 'checkout');
  expect(made).toMatchObject({ name: 'checkout', lastUsedAt: null });
  const get = async () =>
    (await fetch(hookrail.apiUrl + resource, { headers: { authorization: `API-Key ${made.key}` } })).status;
  expect(await get()).toBe(200);
  const listed = async () =>
    (await json('keys', 'list')).find((key: { keyId: string }) => key.keyId === made.keyId);
  const used = await eventually('the use of the key is recorded', async () =>
    (await listed()).lastUsedAt ? listed() : null,
  );
  expect(used).toMatchObject({ name: 'checkout', revokedAt: null });
  await json('keys', 'revoke', made.keyId);
  expect(await get()).toBe(401);
  expect((await listed()).revokedAt).not.toBeNull();
});

test('the audit log has every change with its author, and no secret', async () => {
  const { merchantId } = setup;
  const created = await merchant.createEndpoint(`${receiver.url}/gone`);
  const path = `${resource}/${created.uuid}`;
  await merchant.request('PATCH', path, { description: 'changed' });
  const rotated = await merchant.request('PATCH', `${path}/secret`);
  await merchant.publish([jsonEventOf(merchantId, 'audit')]);
  await eventually(
    'the endpoint is disabled',
    async () => (await merchant.request('GET', path)).body.status === 'auto_disabled',
  );
  await merchant.request('DELETE', path);
  await json('merchants', 'pause', merchantId);
  await json('merchants', 'resume', merchantId);
  const key = await json('keys', 'create', '--merchant', merchantId);
  await json('keys', 'revoke', key.keyId);

  const of = await json('audit', 'list', '--endpoint', created.uuid);
  expect(of.map(({ action, actor }: { action: string; actor: string }) => [action, actor])).toEqual([
    ['endpoint.delete', 'api_key'],
    ['endpoint.auto_disable', 'system'],
    ['endpoint.rotate', 'api_key'],
    ['endpoint.update', 'api_key'],
    ['endpoint.create', 'api_key'],
  ]);
  expect(of[0].key).toBe(setup.apiKey.slice(-4));
  const operators = await json('audit', 'list', '--merchant', merchantId, '--since', '10m', '--limit', '4');
  expect(
    operators.map(({ action, details }: { action: string; details: object }) => [action, details]),
  ).toEqual([
    ['api_key.revoke', { keyId: key.keyId, hint: key.hint, name: null }],
    ['api_key.create', { keyId: key.keyId, hint: key.hint, name: null }],
    ['merchant.update', { state: 'active' }],
    ['merchant.update', { state: 'paused' }],
  ]);
  const next = ['--after', operators.at(-1).cursor, '--limit', '1'];
  expect(await json('audit', 'list', ...next)).toMatchObject([{ action: 'endpoint.delete' }]);
  const all = await operator('audit', 'list', '--limit', '1000');
  expect(all.out.split('\n').length).toBeGreaterThan(9);
  const secrets = [created.signing_secret, rotated.body.signing_secret, setup.apiKey, key.key];
  for (const secret of secrets) expect(all.out).not.toContain(secret.slice(8, 40));
  for (const [argv, hint] of [
    [['--since', 'yesterday'], 'since'],
    [['--after', 'x'], 'cursor'],
    [['--limit', '0'], 'limit'],
  ] as const) {
    const { code, err } = await operator('audit', 'list', ...argv);
    expect([code, err]).toEqual([2, expect.stringContaining(hint)]);
  }
});

test('the bodies of an erased entity are gone from the delivery log, which says so', async () => {
  const endpoint = await merchant.createEndpoint(`${receiver.url}/erased`);
  const event = jsonEventOf(setup.merchantId, 'to-erase');
  const other = jsonEventOf(setup.merchantId, 'to-keep');
  await merchant.publish([event, other]);
  const deliveries = `${resource}/${endpoint.uuid}/deliveries`;
  const list = async () => (await merchant.request('GET', deliveries)).body.data;
  await eventually(
    'both events are delivered',
    async () =>
      (await list()).filter(({ status }: { status: string }) => status === 'delivered').length === 2,
  );
  const entity = (await merchant.request('GET', `/merchant/events/${event.header.eventId}`)).body.entity_uuid;
  const refused = await operator('entity', 'erase', '--entity', entity);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--yes')]);
  expect(await json('entity', 'erase', '--entity', entity.toUpperCase(), '--yes')).toEqual({
    ...{ entityId: entity, merchantId: null, events: 1 },
    // The receiver answers with an empty body, and the request's is the event's own.
    ...{ deliveries: 0, removedRecords: 0, remains: expect.any(Array) },
  });
  const erased = await merchant.request('GET', `/merchant/events/${event.header.eventId}`);
  expect(erased.body).toMatchObject({ body: null, body_removed: true });
  const kept = await merchant.request('GET', `/merchant/events/${other.header.eventId}`);
  expect(kept.body).toMatchObject({ body: expect.stringContaining('{'), body_removed: false });
  const [id] = erased.body.endpoints.flatMap(
    ({ endpoint_uuid, delivery_uuid }: { endpoint_uuid: string; delivery_uuid: string }) =>
      endpoint_uuid === endpoint.uuid ? [delivery_uuid] : [],
  );
  const delivery = await merchant.request('GET', `${deliveries}/${id}`);
  expect(delivery.body).toMatchObject({ status: 'delivered', body: null, body_removed: true });
  expect(delivery.body.attempts).toMatchObject([{ response_status: 200, response_body: null }]);
  expect((await operator('entity', 'erase', '--entity', 'x', '--yes')).err).toContain('not a UUID');

  // The audit's event was refused by its receiver: its body is stored as well.
  const { entityId } = jsonEventOf(setup.merchantId, 'audit').header;
  expect(await json('dead-letters', 'list')).toHaveLength(1);
  expect(await json('entity', 'erase', '--entity', entityId, '--yes')).toMatchObject({ removedRecords: 1 });
  expect(await json('dead-letters', 'list')).toEqual([]);
});

test('an operator adds, lists, rewraps to and removes a key of the key ring', async () => {
  const file = join(setup.dataDir, 'keyring.json');
  const endpoint = await merchant.createEndpoint(`${receiver.url}/ring`, {});
  await merchant.request('PATCH', `${resource}/${endpoint.uuid}/secret`, undefined, {
    'idempotency-key': 'rotated-once',
  });
  const before = await json('keyring', 'list');
  expect(before).toMatchObject([{ id: 'k1', active: true, missing: false, answers: 1 }]);
  const { added } = await json('keyring', 'add');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const used = await operator('keyring', 'remove', '--id', 'k1');
  expect([used.code, used.err]).toEqual([1, expect.stringContaining('keyring rewrap')]);
  expect(await json('keyring', 'rewrap')).toEqual({
    ...{ keyRing: file, active: added },
    ...{ endpoints: before[0].endpoints, answers: 1, records: before[0].records - before[0].endpoints },
  });
  expect(await json('keyring', 'list')).toMatchObject([
    { id: 'k1', active: false, endpoints: 0, answers: 0 },
    { id: added, active: true, endpoints: before[0].endpoints, answers: 1 },
  ]);
  // A repeat of the request still gets its answer.
  const again = await merchant.request('PATCH', `${resource}/${endpoint.uuid}/secret`, undefined, {
    'idempotency-key': 'rotated-once',
  });
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(await json('keyring', 'remove', '--id', 'k1')).toMatchObject({ removed: 'k1' });
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).keys)).toEqual([added]);
  const active = await operator('keyring', 'remove', '--id', added);
  expect([active.code, active.err]).toEqual([1, expect.stringContaining(`key "${added}" seals`)]);
  const key = Object.values(JSON.parse(readFileSync(file, 'utf8')).keys)[0] as string;
  expect((await operator('keyring', 'list')).out).not.toContain(key.slice(0, 20));
  expect(await json('audit', 'list', '--limit', '3')).toMatchObject([
    { action: 'keyring.remove', details: { key: 'k1', keyRing: file } },
    { action: 'keyring.rewrap' },
    { action: 'keyring.add', details: { key: added } },
  ]);
});
