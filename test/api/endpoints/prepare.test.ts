/**
 * POST …/secret/prepare: the next secret is shown before it is in force, and the next rotation puts this one in force, or
 * says that it is gone.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Directory } from '../../../services/domain/directory.ts';
import { secretHint } from '../../../services/domain/secret.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
const directory = new Directory();
beforeAll(async () => {
  api = await startTestApi();
  await api.broker.followDirectory((change) => void directory.apply(change));
});
afterAll(() => api.close());

const prepare = (uuid: string, headers = {}) =>
  api.call('POST', `${ENDPOINTS}/${uuid}/secret/prepare`, { headers });
const rotate = (uuid: string, json?: object) =>
  api.call('PATCH', `${ENDPOINTS}/${uuid}/secret`, json === undefined ? {} : { json });
const discard = (uuid: string) => api.call('DELETE', `${ENDPOINTS}/${uuid}/secret/prepare`);
const read = async (uuid: string) => (await api.call('GET', `${ENDPOINTS}/${uuid}`)).body;
const NOTHING = { prepared_secret_hint: null, secret_prepared_at: null };

/** Returns the secret that the senders sign with, in plain text. */
function inForce(uuid: string): string | undefined {
  const endpoint = directory.endpoint(uuid);
  return endpoint && api.keyRing.open(endpoint.secret, uuid);
}

describe('a prepared secret', () => {
  test('is shown once, sealed on its way to the senders, and not in force', async () => {
    const made = await createEndpoint(api);
    const { status, body } = await prepare(made.uuid);
    expect(status).toBe(200);
    const { signing_secret: secret, ...rest } = body;
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(made.signing_secret);
    const { prepared_secret_hint, secret_prepared_at, ...before } = await read(made.uuid);
    expect(rest).toEqual({ uuid: made.uuid, prepared_secret_hint, secret_prepared_at });
    expect(prepared_secret_hint).toBe(secretHint(secret));
    expect(before).toMatchObject({ secret_hint: made.secret_hint, updated_at: made.updated_at });
    expect(inForce(made.uuid)).toBe(made.signing_secret);
    expect(JSON.stringify(directory.endpoint(made.uuid))).not.toContain(secret);
    expect(api.logged.join('')).not.toContain(secret);
  });

  test.each([
    ['a rotation to it', { use: 'prepared' }],
    ['a rotation that names none', undefined],
  ])('is put in force by %s', async (_what, json) => {
    const { uuid } = await createEndpoint(api);
    const secret: string = (await prepare(uuid)).body.signing_secret;
    const rotated = await rotate(uuid, json);
    expect([rotated.status, rotated.body.signing_secret]).toEqual([200, secret]);
    expect(inForce(uuid)).toBe(secret);
    expect(await read(uuid)).toMatchObject({ secret_hint: secretHint(secret), ...NOTHING });
    // It is used up: the next one is new, or refused.
    const refused = await rotate(uuid, { use: 'prepared' });
    expect([refused.status, refused.body.code]).toEqual([409, 'secret_not_prepared']);
    expect(inForce(uuid)).toBe(secret);
    expect((await rotate(uuid)).body.signing_secret).not.toBe(secret);
  });

  test('is replaced by another, and a repeat with its Idempotency-Key gets the first response', async () => {
    const { uuid } = await createEndpoint(api);
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const first = (await prepare(uuid, headers)).body.signing_secret;
    const repeated = await prepare(uuid, headers);
    expect(repeated.body.signing_secret).toBe(first);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    const second = (await prepare(uuid)).body.signing_secret;
    expect(second).not.toBe(first);
    expect((await rotate(uuid)).body.signing_secret).toBe(second);
  });

  test('can be discarded, again and again, and is not rotated to afterwards', async () => {
    const made = await createEndpoint(api);
    const { uuid } = made;
    const secret = (await prepare(uuid)).body.signing_secret;
    for (let i = 0; i < 2; i += 1) expect((await discard(uuid)).status).toBe(204);
    expect(await read(uuid)).toMatchObject(NOTHING);
    expect((await rotate(uuid, { use: 'prepared' })).status).toBe(409);
    expect(inForce(uuid)).toBe(made.signing_secret);
    expect((await rotate(uuid)).body.signing_secret).not.toBe(secret);
    const entries = await api.store.audit.list({ endpointId: uuid, limit: 10 });
    expect(entries.map(({ action }) => action)).toEqual([
      'endpoint.rotate',
      'endpoint.discard_prepared',
      'endpoint.prepare',
      'endpoint.create',
    ]);
  });

  test('is put in force once by rotations that meet, and the others make new ones', async () => {
    const { uuid } = await createEndpoint(api);
    const secret = (await prepare(uuid)).body.signing_secret;
    const answers = await Promise.all([rotate(uuid), rotate(uuid), rotate(uuid)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const secrets = answers.map(({ body }) => body.signing_secret);
    expect(secrets.filter((one) => one === secret)).toHaveLength(1);
    expect(new Set(secrets).size).toBe(3);
    expect(secrets).toContain(inForce(uuid));
  });

  test('that the key ring does not open is none for a rotation, which makes a new one', async () => {
    const { uuid } = await createEndpoint(api);
    const sealed = { keyId: 'k1', ciphertext: Buffer.alloc(60).toString('base64') };
    const by = { at: api.clock.wall(), actor: { kind: 'operator' } } as const;
    await api.store.endpoints.prepare(api.merchantId, uuid, { sealed, hint: '…' }, by);
    expect((await rotate(uuid, { use: 'prepared' })).body.code).toBe('secret_not_prepared');
    const { signing_secret: secret } = (await rotate(uuid)).body;
    expect(inForce(uuid)).toBe(secret);
    expect(await read(uuid)).toMatchObject(NOTHING);
  });
});

test('preparing takes an empty object like no body, and refuses any property', async () => {
  const { uuid } = await createEndpoint(api);
  const path = `${ENDPOINTS}/${uuid}/secret/prepare`;
  expect((await api.call('POST', path, { json: {} })).status).toBe(200);
  const chosen = await api.call('POST', path, { json: { signing_secret: 'mine' } });
  expect([chosen.status, chosen.body.errors[0].code]).toEqual([400, 'unknown_field']);
  expect((await rotate(uuid, { use: 'another' })).status).toBe(400);
});
