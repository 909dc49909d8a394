/** POST …/test: a realistic webhook, one attempt, whatever the endpoint's status and filter are; never in production. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entityKindsOf, SUB_TYPES, subTypesOf } from '../../../services/domain/catalog/catalog.ts';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import { ACKNOWLEDGED, type Played, sendAndRecord } from '../../support/api/send-and-record.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
let sent: Awaited<ReturnType<typeof sendAndRecord>>;
let plays: Played = ACKNOWLEDGED;
beforeAll(async () => {
  api = await startTestApi();
  sent = await sendAndRecord(api.broker, api.store, () => plays);
});
afterAll(() => api.close());

const user = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
const wait = { prefer: 'wait=20' };
const send = (uuid: string, json: unknown, headers = {}) =>
  api.call('POST', `${ENDPOINTS}/${uuid}/test`, { json, headers });
const kyc = { type: 'KYC', subType: 'FULL_USER', user_uuid: user };

describe('a test webhook', () => {
  test('is signed with the prepared secret when it asks so, and refused when none is prepared', async () => {
    const { uuid } = await createEndpoint(api);
    const json = { ...kyc, signed_with: 'prepared' };
    const refused = await send(uuid, json);
    expect([refused.status, refused.body.code]).toEqual([409, 'secret_not_prepared']);
    await api.call('POST', `${ENDPOINTS}/${uuid}/secret/prepare`);
    const { body } = await send(uuid, json, wait);
    const taskOf = (id: string) => sent.tasks.find(({ deliveryId }) => deliveryId === id);
    expect(taskOf(body.delivery_uuid)).toMatchObject({ trigger: 'test', signedWith: 'prepared' });
    const [entry] = await api.store.audit.list({ endpointId: uuid, limit: 1 });
    expect(entry).toMatchObject({ action: 'delivery.test', details: { signedWith: 'prepared' } });
    const plain = await send(uuid, kyc, wait);
    expect(taskOf(plain.body.delivery_uuid)).not.toHaveProperty('signedWith');
    expect((await send(uuid, { ...kyc, signed_with: 'other' })).status).toBe(400);
  });

  test('is queued at once, or answered with the attempt’s result with Prefer: wait', async () => {
    const { uuid } = await createEndpoint(api);
    const queued = await send(uuid, kyc);
    expect([queued.status, queued.body.status]).toEqual([202, 'queued']);
    expect(queued.headers.get('preference-applied')).toBeNull();
    const waited = await send(uuid, kyc, wait);
    expect(waited.status).toBe(200);
    expect(waited.headers.get('preference-applied')).toBe('wait=20');
    expect(waited.body).toMatchObject({
      status: 'delivered',
      response_status: 204,
      duration_ms: 12.3,
      failure_code: null,
      response_body_preview: 'thanks',
      warnings: [],
    });
    expect(waited.body.event_uuid).not.toBe(queued.body.event_uuid);
  });

  test('reports a failed attempt as a result, and is not tried again', async () => {
    const { uuid } = await createEndpoint(api);
    plays = {
      outcome: { kind: 'exhausted' },
      failureCode: 'connect_refused',
      failureDetail: 'nobody listens there',
      response: null,
    };
    const { body } = await send(uuid, kyc, wait);
    plays = ACKNOWLEDGED;
    expect(body).toMatchObject({
      status: 'exhausted',
      response_status: null,
      failure_code: 'connect_refused',
    });
    expect(body.response_body_preview).toBeNull();
    const task = sent.tasks.find(({ deliveryId }) => deliveryId === body.delivery_uuid);
    expect(task).toMatchObject({ trigger: 'test', attempt: 1, attemptsMax: 1, entityId: user });
  });

  test('can be sent for every type and subType, every entity it may concern, and both versions', async () => {
    const endpoints = {
      '2.3.8': (await createEndpoint(api)).uuid,
      '2.2.8': (await createEndpoint(api, { api_version: '2.2.8' })).uuid,
    };
    for (const [version, uuid] of Object.entries(endpoints) as ['2.3.8' | '2.2.8', string][]) {
      for (const type of EVENT_TYPES) {
        for (const subType of subTypesOf(type, version)) {
          for (const kind of entityKindsOf(type)) {
            const entity = kind === 'USER' ? { user_uuid: user } : { corporate_uuid: user };
            const answer = await send(uuid, { type, subType, ...entity });
            expect([type, subType, kind, answer.status]).toEqual([type, subType, kind, 202]);
          }
        }
      }
    }
  });

  test('has the body of the real webhook, in the endpoint’s version, about the named entity', async () => {
    const { uuid } = await createEndpoint(api, { api_version: '2.2.8' });
    const json = { type: 'fiatToCrypto', subType: 'SUCCESS', corporate_uuid: user.toUpperCase() };
    const { body } = await send(uuid, json, wait);
    const delivery = await api.call('GET', `${ENDPOINTS}/${uuid}/deliveries/${body.delivery_uuid}`);
    const webhook = JSON.parse(delivery.body.body);
    expect(webhook).toMatchObject({ type: 'fiatToCrypto', subType: 'SUCCESS', uuid: user });
    expect(Object.keys(webhook)).toEqual(['type', 'subType', 'uuid', 'data']);
    expect(webhook.data).not.toHaveProperty('senderDetails');
    expect(delivery.body).toMatchObject({ trigger: 'test', api_version: '2.2.8', attempts_max: 1 });
  });

  test('is sent to a disabled or filtering endpoint all the same, with a warning', async () => {
    const { uuid } = await createEndpoint(api, { subscribed_events: ['AML'] });
    await api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json: { status: 'disabled' } });
    const { body } = await send(uuid, kyc, wait);
    expect(body.status).toBe('delivered');
    expect(body.warnings.map(({ code }: { code: string }) => code)).toEqual([
      'endpoint_not_active',
      'filtered',
    ]);
  });
});

describe('a request for a test webhook', () => {
  test.each([
    ['a subType of another type', { ...kyc, subType: 'SUCCESS' }, 422, 'subtype_type_mismatch'],
    [
      'a corporate for KYC',
      { type: 'KYC', subType: 'FULL_USER', corporate_uuid: user },
      422,
      'entity_not_allowed_for_type',
    ],
    [
      'a corporate for cryptoToFiat',
      { type: 'cryptoToFiat', subType: 'SUCCESS', corporate_uuid: user },
      422,
      'entity_not_allowed_for_type',
    ],
    [
      'a user for KYB',
      { type: 'KYB', subType: 'CREATED', user_uuid: user },
      422,
      'entity_not_allowed_for_type',
    ],
    ['nobody', { type: 'KYC', subType: 'FULL_USER' }, 400, 'exactly_one_entity_required'],
    ['both', { ...kyc, corporate_uuid: user }, 400, 'exactly_one_entity_required'],
    ['an unknown type', { ...kyc, type: 'kyc' }, 400, 'validation_error'],
    ['no subType', { type: 'KYC', user_uuid: user }, 400, 'validation_error'],
    ['an entity that is no UUID', { ...kyc, user_uuid: 'x' }, 400, 'validation_error'],
    ['data of their own', { ...kyc, data: {} }, 400, 'validation_error'],
  ])('is refused for %s', async (_what, json, status, code) => {
    const { uuid } = await createEndpoint(api);
    const answer = await send(uuid, json);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test('is refused for a mismatched subType, with a list of the possible ones', async () => {
    const { uuid } = await createEndpoint(api);
    const { body } = await send(uuid, { ...kyc, subType: 'X' });
    for (const subType of SUB_TYPES.KYC) expect(body.detail).toContain(subType);
  });

  test('is refused for a type or subType that the endpoint’s version does not have', async () => {
    const { uuid } = await createEndpoint(api, { api_version: '2.2.8' });
    const type = await send(uuid, { type: 'AML', subType: 'AML_CHECKS_FAILED', user_uuid: user });
    expect([type.status, type.body.code]).toEqual([422, 'type_not_in_api_version']);
    const subType = await send(uuid, { ...kyc, subType: 'SUSPENDED' });
    expect([subType.status, subType.body.code]).toEqual([422, 'type_not_in_api_version']);
  });

  test('is always refused in production', async () => {
    const production = await startTestApi({ environment: 'production' });
    try {
      const made = await createEndpoint(production);
      expect(made.environment).toBe('production');
      for (const json of [kyc, {}]) {
        const answer = await production.call('POST', `${ENDPOINTS}/${made.uuid}/test`, { json });
        expect([answer.status, answer.body.code]).toEqual([403, 'test_not_available_in_production']);
      }
      const sandboxKey = await production.call('GET', ENDPOINTS, { key: production.keys.live });
      expect(sandboxKey.body.code).toBe('api_key_environment_mismatch');
    } finally {
      await production.close();
    }
  });
});

test('a test webhook is answered with 202 when the wait ends before the attempt', async () => {
  const idle = await startTestApi();
  try {
    const { uuid } = await createEndpoint(idle);
    const answer = await idle.call('POST', `${ENDPOINTS}/${uuid}/test`, {
      json: kyc,
      headers: { prefer: 'wait=1' },
    });
    expect([answer.status, answer.body.status]).toEqual([202, 'queued']);
  } finally {
    await idle.close();
  }
});
