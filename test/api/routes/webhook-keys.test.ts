/** The public keys of the signature v1a are open to everybody, and an endpoint may ask for the signature where there is a key. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { changeSigningKeys } from '../../../services/keys/keyring-file.ts';
import { newSigningKey } from '../../../services/keys/signing-keys.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

const KEYS = '/.well-known/webhook-keys';
const NOTICED_MS_MAX = 15_000;
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const update = (uuid: string, json: unknown) => api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json });

describe('the public keys', () => {
  test('are answered without a key, may be kept for five minutes, and hold nothing private', async () => {
    const answer = await api.call('GET', KEYS, { key: null });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/jwk-set\+json/);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    const [key] = api.keyRing.signingKeys('sandbox');
    expect(JSON.parse(answer.text)).toEqual({
      keys: [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: key?.kid, x: key?.x }],
    });
  });

  test('are not sent again to a client that has them', async () => {
    const { headers } = await api.call('GET', KEYS, { key: null });
    const etag = headers.get('etag') ?? '';
    const again = await api.call('GET', KEYS, { key: null, headers: { 'If-None-Match': etag } });
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'public, max-age=300']);
  });

  test('are answered alike to any key, be it wrong, and to no other method', async () => {
    const bare = await api.call('GET', KEYS, { key: null });
    for (const key of ['sk_sandbox_wrong', api.keys.revoked])
      expect((await api.call('GET', KEYS, { key })).text).toBe(bare.text);
    expect((await api.call('POST', KEYS, { key: null })).status).toBe(405);
  });
});

describe('an endpoint', () => {
  test('has no signature of the platform unless it asks, and keeps its choice through other changes', async () => {
    const plain = await createEndpoint(api);
    expect(plain.public_key_signature).toBe(false);
    const asked = await createEndpoint(api, { public_key_signature: true });
    expect(asked.public_key_signature).toBe(true);
    expect((await update(asked.uuid, { description: 'Another' })).body.public_key_signature).toBe(true);
    expect((await api.call('GET', `${ENDPOINTS}/${asked.uuid}`)).body.public_key_signature).toBe(true);
    expect((await update(asked.uuid, { public_key_signature: false })).body.public_key_signature).toBe(false);
    expect((await update(plain.uuid, { public_key_signature: true })).body.public_key_signature).toBe(true);
  });

  test.each(['yes', 1, null, ['v1a']])(
    'that asks for it with %j is refused, and nothing changes',
    async (value) => {
      const { uuid } = await createEndpoint(api);
      const answer = await update(uuid, { public_key_signature: value });
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
      expect((await api.call('GET', `${ENDPOINTS}/${uuid}`)).body.public_key_signature).toBe(false);
    },
  );

  test('may not ask for it where there is no key that signs, and may always give it up', async () => {
    const { uuid } = await createEndpoint(api, { public_key_signature: true });
    const later = newSigningKey('sandbox', Date.now() + 3_600_000);
    changeSigningKeys(api.keyRing.file, () => [later, newSigningKey('production', 0)]);
    await vi.waitFor(() => expect(api.keyRing.signingKeys('sandbox')[0]?.kid).toBe(later.kid), {
      timeout: NOTICED_MS_MAX,
    });
    const url = 'https://hooks.merchant.com/late';
    const created = await api.call('POST', ENDPOINTS, {
      json: { url, description: 'Late', public_key_signature: true },
    });
    const refusal = {
      code: 'public_key_signature_unavailable',
      errors: [{ pointer: '/public_key_signature' }],
    };
    expect([created.status, created.body]).toEqual([409, expect.objectContaining({ code: refusal.code })]);
    expect(created.body).toMatchObject(refusal);
    const updated = await update(uuid, { public_key_signature: true });
    expect([updated.status, updated.body.code]).toEqual([409, refusal.code]);
    expect((await update(uuid, { public_key_signature: false })).status).toBe(200);
    const listed = (await api.call('GET', ENDPOINTS)).body.data as { url: string }[];
    expect(listed.filter((one) => one.url === url)).toEqual([]);
    // Before it signs, it is published already.
    expect(JSON.parse((await api.call('GET', KEYS, { key: null })).text).keys[0].kid).toBe(later.kid);
  }, 60_000);
});
