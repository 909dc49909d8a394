/**
 * An Idempotency-Key makes create and rotate safe to repeat: the same request gets the same answer, secret included, and
 * nothing is done twice.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const fresh = () => ({ 'idempotency-key': crypto.randomUUID() });
const body = () => ({ url: `https://hooks.merchant.com/${crypto.randomUUID()}`, description: 'd' });

describe('the Idempotency-Key of a create', () => {
  test('gives a repeat the first answer, marked as such, and makes only one endpoint', async () => {
    const headers = fresh();
    const json = body();
    const first = await api.call('POST', ENDPOINTS, { json, headers });
    const again = await api.call('POST', ENDPOINTS, { json, headers });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    const all = (await api.call('GET', `${ENDPOINTS}?limit=100`)).body.data;
    expect(all.filter((record: { url: string }) => record.url === json.url)).toHaveLength(1);
  });

  test('matches a repeat with another order of properties', async () => {
    const headers = fresh();
    const { url, description } = body();
    const first = await api.call('POST', ENDPOINTS, { json: { url, description }, headers });
    const again = await api.call('POST', ENDPOINTS, { json: { description, url }, headers });
    expect(again.body).toEqual(first.body);
  });

  test('refuses another request with the same key', async () => {
    const headers = fresh();
    await api.call('POST', ENDPOINTS, { json: body(), headers });
    const other = await api.call('POST', ENDPOINTS, { json: body(), headers });
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('means nothing under another API key', async () => {
    const headers = fresh();
    const json = body();
    const mine = await api.call('POST', ENDPOINTS, { json, headers });
    const theirs = await api.call('POST', ENDPOINTS, { json, headers, key: api.keys.foreign });
    expect(theirs.status).toBe(201);
    expect(theirs.body.signing_secret).not.toBe(mine.body.signing_secret);
  });

  test('keeps no refusal: once its cause is gone, the request is judged anew', async () => {
    const headers = fresh();
    const taken = await createEndpoint(api);
    const json = { ...body(), url: taken.url };
    expect((await api.call('POST', ENDPOINTS, { json, headers })).status).toBe(409);
    await api.call('DELETE', `${ENDPOINTS}/${taken.uuid}`);
    expect((await api.call('POST', ENDPOINTS, { json, headers })).status).toBe(201);
  });

  test('makes one endpoint of many requests at once, and every success has the same answer', async () => {
    const headers = fresh();
    const json = body();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.call('POST', ENDPOINTS, { json, headers })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    for (const { status, body } of answers)
      if (status !== 201) expect(body.code).toBe('idempotency_key_in_progress');
  });

  test('is forgotten after its retention', async () => {
    const short = await startTestApi({ limits: { answersKeptMs: 0 } });
    try {
      const headers = fresh();
      await short.call('POST', ENDPOINTS, { json: body(), headers });
      expect((await short.call('POST', ENDPOINTS, { json: body(), headers })).status).toBe(201);
    } finally {
      await short.close();
    }
  });

  test.each([' ', 'a b', 'x'.repeat(256)])('is refused when it is "%s"', async (key) => {
    const answer = await api.call('POST', ENDPOINTS, { json: body(), headers: { 'idempotency-key': key } });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
  });
});

describe('the Idempotency-Key of a rotation', () => {
  test('gives a repeat the same secret, which is the one in force', async () => {
    const { uuid } = await createEndpoint(api);
    const headers = fresh();
    const first = await api.call('PATCH', `${ENDPOINTS}/${uuid}/secret`, { headers });
    const again = await api.call('PATCH', `${ENDPOINTS}/${uuid}/secret`, { headers });
    expect(again.body).toEqual(first.body);
    const stored = await api.store.endpoints.get(api.merchantId, uuid);
    expect(stored && api.keyRing.open(stored.secret, uuid)).toBe(first.body.signing_secret);
  });

  test('of one endpoint does not rotate another', async () => {
    const headers = fresh();
    const [one, two] = [await createEndpoint(api), await createEndpoint(api)];
    await api.call('PATCH', `${ENDPOINTS}/${one.uuid}/secret`, { headers });
    const other = await api.call('PATCH', `${ENDPOINTS}/${two.uuid}/secret`, { headers });
    expect(other.body.code).toBe('idempotency_key_reused');
  });
});
