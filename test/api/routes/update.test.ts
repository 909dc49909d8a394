/** PATCH and DELETE of an endpoint: the changes, and that the answer waits until the senders know them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Directory } from '../../../services/domain/directory.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
const directory = new Directory();
beforeAll(async () => {
  api = await startTestApi();
  await api.broker.followDirectory((change) => void directory.apply(change));
});
afterAll(() => api.close());

const update = (uuid: string, json: unknown) => api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json });

describe('an update of an endpoint', () => {
  test('changes only the properties that were sent', async () => {
    const { signing_secret: _secret, ...made } = await createEndpoint(api, { subscribed_events: ['KYC'] });
    const answer = await update(made.uuid, { description: 'Another' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...made, description: 'Another', updated_at: answer.body.updated_at });
    expect(Date.parse(answer.body.updated_at)).toBeGreaterThanOrEqual(Date.parse(made.updated_at));
  });

  test('is on the stream that senders follow once it is answered', async () => {
    const { uuid } = await createEndpoint(api);
    for (const status of ['disabled', 'active', 'disabled'] as const) {
      expect((await update(uuid, { status })).status).toBe(200);
      expect(directory.endpoint(uuid)?.status).toBe(status);
    }
    await api.call('DELETE', `${ENDPOINTS}/${uuid}`);
    expect(directory.endpoint(uuid)).toBeUndefined();
  });

  test('takes a null filter as every type, and replaces the filter by another', async () => {
    const { uuid } = await createEndpoint(api, { subscribed_events: ['KYC'] });
    expect((await update(uuid, { subscribed_events: ['AML', 'AML'] })).body.subscribed_events).toEqual([
      'AML',
    ]);
    expect((await update(uuid, { subscribed_events: null })).body.subscribed_events).toBeNull();
  });

  test('shows a disabling by hand, and tells how much was missed when switched on again', async () => {
    const { uuid } = await createEndpoint(api);
    const off = (await update(uuid, { status: 'disabled' })).body;
    expect(off).toMatchObject({ status: 'disabled', disabled_reason: 'manual' });
    expect(off.hint).toBeUndefined();
    const on = (await update(uuid, { status: 'active' })).body;
    expect(on).toMatchObject({ status: 'active', disabled_reason: null, disabled_at: null });
    expect(on.hint).toContain(off.disabled_at);
    expect((await update(uuid, { status: 'active' })).body.hint).toBeUndefined();
  });

  test('changes the version, which senders know once it is answered', async () => {
    const { uuid } = await createEndpoint(api, { api_version: '2.2.8' });
    const answer = await update(uuid, { api_version: '2.3.8' });
    expect([answer.status, answer.body.api_version]).toEqual([200, '2.3.8']);
    expect(directory.endpoint(uuid)?.apiVersion).toBe('2.3.8');
    expect((await update(uuid, { description: 'x' })).body.api_version).toBe('2.3.8');
    const unknown = await update(uuid, { api_version: '2.2.9' });
    expect([unknown.status, unknown.body.code]).toEqual([400, 'unsupported_api_version']);
  });

  test('refuses a filter and a version that can never match, and warns of types that are not sent', async () => {
    const { uuid } = await createEndpoint(api, { api_version: '2.2.8' });
    const never = await update(uuid, { subscribed_events: ['KYB', 'AML'] });
    expect([never.status, never.body.code]).toEqual([422, 'type_not_in_api_version']);
    expect(never.body.detail).toContain('KYB, AML');
    const some = await update(uuid, { subscribed_events: ['KYB', 'KYC'] });
    expect([some.status, some.body.warnings]).toEqual([
      200,
      [{ code: 'type_not_in_api_version', detail: expect.stringContaining('KYB') }],
    ]);
    const newer = await update(uuid, { subscribed_events: ['KYB'], api_version: '2.3.8' });
    expect([newer.status, newer.body.warnings]).toEqual([200, undefined]);
    expect((await update(uuid, { api_version: '2.2.8' })).status).toBe(422);
    expect((await api.call('GET', `${ENDPOINTS}/${uuid}`)).body.api_version).toBe('2.3.8');
  });

  test('applies the same rules to the URL as a create', async () => {
    const first = await createEndpoint(api);
    const second = await createEndpoint(api);
    const taken = await update(second.uuid, { url: first.url });
    expect([taken.status, taken.body.code, taken.body.existing_uuid]).toEqual([
      409,
      'url_already_registered',
      first.uuid,
    ]);
    expect((await update(first.uuid, { url: first.url })).status).toBe(200);
    expect((await update(first.uuid, { url: 'http://hooks.merchant.com' })).body.code).toBe(
      'url_scheme_not_https',
    );
    const refused = await update(first.uuid, { url: 'https://10.0.0.1/' });
    expect([refused.status, refused.body.code]).toEqual([422, 'url_not_allowed']);
  });

  test.each([
    ['nothing at all', {}, '', 'empty_update'],
    ['a status that only hookrail sets', { status: 'auto_disabled' }, '/status', 'invalid_enum'],
    ['a secret, which is rotated and not set', { signing_secret: 'x' }, '/signing_secret', 'unknown_field'],
    ['a null status', { status: null }, '/status', 'invalid_type'],
    ['a null description', { description: null }, '/description', 'invalid_type'],
    ['a long description', { description: 'x'.repeat(256) }, '/description', 'too_long'],
  ])('answers 400 to %s', async (_what, json, pointer, code) => {
    const { uuid } = await createEndpoint(api);
    const answer = await update(uuid, json);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer, code }));
  });

  test('has codes of their own for an empty filter and an unknown type', async () => {
    const { uuid } = await createEndpoint(api);
    expect((await update(uuid, { subscribed_events: [] })).body.code).toBe('empty_filter');
    expect((await update(uuid, { subscribed_events: ['x'] })).body.code).toBe('unknown_event_type');
  });
});

describe('the deletion of an endpoint', () => {
  test('removes the endpoint and makes its URL free again', async () => {
    const made = await createEndpoint(api);
    const gone = await api.call('DELETE', `${ENDPOINTS}/${made.uuid}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await api.call('DELETE', `${ENDPOINTS}/${made.uuid}`)).body.code).toBe(
      'webhook_endpoint_not_found',
    );
    expect((await createEndpoint(api, { url: made.url })).uuid).not.toBe(made.uuid);
  });
});
