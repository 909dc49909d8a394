/**
 * Who may see what: every operation, with every sort of key and every sort of id. An id that is unknown, deleted or
 * another merchant's gets one and the same answer, byte for byte but the request id.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../support/openapi-check.ts';
import { type Answer, createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../support/test-api.ts';

let api: TestApi;
const ids: Record<string, string> = {};
beforeAll(async () => {
  api = await startTestApi();
  ids.random = crypto.randomUUID();
  ids.deleted = (await createEndpoint(api)).uuid;
  await api.call('DELETE', `${ENDPOINTS}/${ids.deleted}`);
  const foreign = await api.call('POST', ENDPOINTS, {
    json: { url: 'https://hooks.merchant.com/f', description: 'd' },
    key: api.keys.foreign,
  });
  ids.foreign = foreign.body.uuid;
});
afterAll(() => api.close());

/** A request of each operation that would succeed on an endpoint of one's own. */
const VALID: Record<string, unknown> = {
  'POST /merchant/webhook-endpoints': { url: 'https://hooks.merchant.com/x', description: 'd' },
  'PATCH /merchant/webhook-endpoints/{id}': { description: 'changed' },
  'POST /merchant/webhook-endpoints/{id}/test': {
    type: 'KYC',
    subType: 'FULL_USER',
    user_uuid: crypto.randomUUID(),
  },
  'POST /merchant/webhook-endpoints/{id}/replay': { since: '2025-03-01T10:00:00Z', only: 'missing' },
};

const withId = (path: string, id: string) =>
  path
    .replace('{id}', id)
    .replace(/\{(delivery|replay)_id\}/, crypto.randomUUID())
    .replace('{event_id}', id);
const bytesWithoutRequestId = ({ text, body }: Answer) => text.replaceAll(body.request_id, '');

describe.each(operations().map(({ method, path }) => [`${method} ${path}`, method, path] as const))(
  '%s',
  (name, method, path) => {
    const json = VALID[name];
    const options = json === undefined ? {} : { json };
    const isProducer = path.startsWith('/producer');

    test.each([
      ['no key', null, 'api_key_missing'],
      ['a key cut off', 'cut', 'api_key_malformed'],
      ['a key with one character changed', 'mistyped', 'api_key_malformed'],
      ['a revoked key', 'revoked', 'api_key_invalid'],
      ['the other environment’s key', 'live', 'api_key_environment_mismatch'],
      ['a key of the other kind', 'kind', 'api_key_invalid'],
    ])('%s: 401, and what to send', async (_what, sort, code) => {
      if (isProducer && (sort === 'revoked' || sort === 'live')) return;
      const right = isProducer ? api.keys.producer : api.keys.own;
      const made: Record<string, string> = {
        cut: right.slice(0, -3),
        mistyped: right.slice(0, -8) + (right.at(-8) === 'a' ? 'b' : 'a') + right.slice(-7),
        revoked: api.keys.revoked,
        live: api.keys.live,
        kind: isProducer ? api.keys.own : api.keys.producer,
      };
      const key = sort === null ? null : (made[sort] ?? '');
      const answer = await api.call(method, withId(path, ids.random ?? ''), { ...options, key });
      expect([answer.status, answer.body.code]).toEqual([401, code]);
      expect(answer.headers.get('www-authenticate')).toBe('API-Key');
    });

    if (path.includes('{id}'))
      test('unknown, deleted and foreign ids: one answer', async () => {
        const answers = await Promise.all(
          ['random', 'deleted', 'foreign'].map((sort) =>
            api.call(method, withId(path, ids[sort] ?? ''), options),
          ),
        );
        for (const answer of answers) {
          expect([answer.status, answer.body.code]).toEqual([404, 'webhook_endpoint_not_found']);
        }
        expect(new Set(answers.map(bytesWithoutRequestId)).size).toBe(1);
        const shown = answers.map(({ headers }) => [...headers.keys()].sort().join());
        expect(new Set(shown).size).toBe(1);
      });

    if (path.includes('{'))
      test('an id that is no UUID: 400', async () => {
        for (const id of ['x', '123', `${ids.random}0`, 'null', '%00']) {
          const answer = await api.call(method, withId(path, id), options);
          expect([id, answer.status, answer.body.code]).toEqual([id, 400, 'invalid_uuid']);
        }
      });
  },
);

test('nothing of this changed the foreign endpoint', async () => {
  const answer = await api.call('GET', `${ENDPOINTS}/${ids.foreign}`, { key: api.keys.foreign });
  expect(answer.body).toMatchObject({ description: 'd', status: 'active', secret_rotated_at: null });
});

test('an id in upper case is the same id', async () => {
  const { uuid } = await createEndpoint(api);
  expect((await api.call('GET', `${ENDPOINTS}/${uuid.toUpperCase()}`)).body.uuid).toBe(uuid);
});

test('a revoked key is refused from the next request on', async () => {
  const other = await startTestApi();
  try {
    expect((await other.call('GET', ENDPOINTS)).status).toBe(200);
    await other.store.keys.revoke(other.keyIds.own, other.clock.now());
    expect((await other.call('GET', ENDPOINTS)).body.code).toBe('api_key_invalid');
  } finally {
    await other.close();
  }
});

test.each(['Bearer x', 'API-Key', 'API-Key a b', 'Basic eDp5'])(
  'Authorization: %s is malformed',
  async (authorization) => {
    const answer = await api.call('GET', ENDPOINTS, { key: null, headers: { authorization } });
    expect([answer.status, answer.body.code]).toEqual([401, 'api_key_malformed']);
  },
);

test('the scheme is read without regard to case, as HTTP has it', async () => {
  const authorization = `api-key ${api.keys.own}`;
  expect((await api.call('GET', ENDPOINTS, { key: null, headers: { authorization } })).status).toBe(200);
});
