/**
 * Guarantee: every operation that changes something leaves an entry in the audit with the id of the key, once for a request
 * that is repeated; so does one that shows personal data of a quarantined record. Another one that reads leaves none. An operation that is added to openapi.yaml is tested at once.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exampleBody, isStream, keySchemeOf, operations } from '../support/api/openapi-check.ts';
import { ENDPOINTS, startTestApi, type TestApi } from '../support/api/test-api.ts';
import { EXAMPLE_MERCHANT, OwnedIds } from '../support/models/owned-ids.ts';

/** Operations that add no entry although they do something, and what says by whom. */
const WITHOUT_ENTRY: Readonly<Record<string, string>> = {
  publishEvents: 'each event names the key that published it',
  triggerEvent: 'the event names the key, or the session of the console',
};

/** Operations that change nothing, and show personal data. */
const SHOWS_PERSONAL: readonly string[] = ['getQuarantined'];

/** The merchant that the entry of a platform operation is about, where it is not the merchant of the others. */
const OF_PLATFORM: Readonly<Record<string, object>> = {
  createMerchant: { action: 'merchant.create', merchantId: expect.any(String) },
  pauseMerchant: { action: 'merchant.update', details: { state: 'paused' } },
  closeMerchant: { action: 'merchant.close', details: { keys: 0, endpoints: 0 } },
  erasePerson: { action: 'entity.erase', merchantId: null },
  startIncidentReplay: { action: 'replay.create', merchantId: null, endpointId: null },
  cancelIncidentReplay: { action: 'replay.cancel', endpointId: expect.any(String) },
  replayQuarantined: { action: 'quarantine.replay', merchantId: null, details: { records: 1 } },
  replayQuarantine: { action: 'quarantine.replay', merchantId: EXAMPLE_MERCHANT },
};

let api: TestApi;
let owned: OwnedIds;
beforeAll(async () => {
  api = await startTestApi({ endpointQuota: 1000 });
  owned = new OwnedIds(api);
});
afterAll(() => api.close());

const entries = () => api.store.audit.list({ limit: 1000 });

/** Opened by a session of the console, or by a link: test/api/portal has their matrix. The others are public. */
const WITHOUT_KEY: readonly string[] = [
  '/console/session',
  '/.well-known/webhook-keys',
  '/.well-known/webhook-sources',
];
const keyed = operations().filter(({ path }) => !WITHOUT_KEY.includes(path));

const SORTS = { merchantKey: 'own', producerKey: 'producer', platformKey: 'platform' } as const;

const cases = keyed.map(({ method, path, operation }) => {
  const { operationId } = operation;
  const isRead = method === 'GET' && !SHOWS_PERSONAL.includes(operationId);
  const isAudited = !isRead && !(operationId in WITHOUT_ENTRY);
  return { name: `${method} ${path}`, method, path, operation, isAudited };
});

test.each(cases)('$name: an entry with the key, or none', async ({ method, path, operation, isAudited }) => {
  const ids = await owned.ownFor(operation);
  const before = new Set((await entries()).map(({ cursor }) => cursor));
  const sort = SORTS[keySchemeOf(operation) as keyof typeof SORTS];
  const json = exampleBody(operation);
  const whole = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => ids[name] ?? '');
  const query = isStream(operation) ? '?seconds=0' : '';
  const options = { key: api.keys[sort], ...(json === undefined ? {} : { json }) };
  const answer = await api.call(method, whole + query, options);
  expect([answer.status, answer.text]).toEqual([
    expect.toSatisfy((status) => status < 300),
    expect.anything(),
  ]);
  const added = (await entries()).filter(({ cursor }) => !before.has(cursor));
  // One for each session that is ended.
  const isOfAll = operation.operationId === 'endPortalSessions';
  expect(added.length).toEqual(isOfAll ? expect.toSatisfy((count) => count > 0) : isAudited ? 1 : 0);
  for (const entry of added) {
    expect(entry.actor).toMatchObject({ kind: 'api_key', keyId: api.keyIds[sort] });
    if (sort === 'platform')
      expect(entry).toMatchObject(
        OF_PLATFORM[operation.operationId] ?? { merchantId: api.merchantId, endpointId: null },
      );
    else expect(entry).toMatchObject({ merchantId: api.merchantId, endpointId: expect.any(String) });
  }
});

test('a resend that is repeated with its Idempotency-Key has one entry, which names both deliveries', async () => {
  const { id, delivery_id: of } = await owned.own();
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const resend = () => api.call('POST', `${ENDPOINTS}/${id}/deliveries/${of}/resend`, { headers });
  const first = await resend();
  expect([first.status, (await resend()).text]).toEqual([202, first.text]);
  const added = await api.store.audit.list({ endpointId: id ?? '', limit: 10 });
  const resends = added.filter(({ action }) => action === 'delivery.resend');
  expect(resends.map(({ details }) => details)).toEqual([
    { deliveryId: first.body.delivery_uuid, of, eventId: first.body.event_uuid },
  ]);
});
