/** PATCH …/secret: the old secret is invalid once the answer is out. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Directory } from '../../../services/domain/directory.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
const directory = new Directory();
beforeAll(async () => {
  api = await startTestApi();
  await api.broker.followDirectory((change) => void directory.apply(change));
});
afterAll(() => api.close());

test('a rotation shows the new secret once, publishes it before the answer, and records the time', async () => {
  const made = await createEndpoint(api);
  const rotated = await api.call('PATCH', `${ENDPOINTS}/${made.uuid}/secret`);
  expect(rotated.status).toBe(200);
  expect(Object.keys(rotated.body).sort()).toEqual([
    'secret_hint',
    'secret_rotated_at',
    'signing_secret',
    'uuid',
  ]);
  expect(rotated.body.signing_secret).not.toBe(made.signing_secret);
  const onStream = directory.endpoint(made.uuid);
  expect(onStream && api.keyRing.open(onStream.secret, made.uuid)).toBe(rotated.body.signing_secret);
  const record = (await api.call('GET', `${ENDPOINTS}/${made.uuid}`)).body;
  expect(record.secret_hint).toBe(rotated.body.secret_hint);
  expect(record.secret_rotated_at).toBe(rotated.body.secret_rotated_at);
});

test('a rotated secret travels sealed: neither stream nor log has it in plain text', async () => {
  const made = await createEndpoint(api);
  const secret: string = (await api.call('PATCH', `${ENDPOINTS}/${made.uuid}/secret`)).body.signing_secret;
  expect(JSON.stringify(directory.endpoint(made.uuid))).not.toContain(secret);
  expect(api.logged.join('')).not.toContain(secret);
  expect(api.logged.join('')).not.toContain(made.signing_secret);
  expect(api.logged.join('')).not.toContain(api.keys.own);
});

test('a rotation takes an empty object like no body, and refuses any property', async () => {
  const { uuid } = await createEndpoint(api);
  expect((await api.call('PATCH', `${ENDPOINTS}/${uuid}/secret`, { json: {} })).status).toBe(200);
  const chosen = await api.call('PATCH', `${ENDPOINTS}/${uuid}/secret`, { json: { signing_secret: 'mine' } });
  expect([chosen.status, chosen.body.errors[0].code]).toEqual([400, 'unknown_field']);
});
