/** Headers of a merchant's own and the limit of an endpoint: what is set is in force, and no value is shown again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CheckUrl } from '../../../services/domain/checks/endpoint-check.ts';
import { parseHeaders } from '../../../services/domain/controls/custom-headers.ts';
import { Directory } from '../../../services/domain/directory.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
const directory = new Directory();
const checked: Parameters<CheckUrl>[2][] = [];
beforeAll(async () => {
  const checkUrl: CheckUrl = async (_url, _signal, headers) => {
    checked.push(headers);
    return [];
  };
  api = await startTestApi({ checkUrl });
  await api.broker.followDirectory((change) => void directory.apply(change));
});
afterAll(() => api.close());

const patch = (uuid: string, json: object) => api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json });
const read = async (uuid: string) => (await api.call('GET', `${ENDPOINTS}/${uuid}`)).body;

/** Returns the headers that senders send. */
function inForce(uuid: string) {
  const headers = directory.endpoint(uuid)?.headers;
  return headers && parseHeaders(api.keyRing.open(headers.sealed, uuid));
}

const KEY = { name: 'X-Api-Key', value: 'canary-of-the-gateway-1' };
const TENANT = { name: 'X-Tenant', value: 'canary tenant 2' };

describe('headers of an endpoint', () => {
  test('are none at first, and the limit is null', async () => {
    expect(await createEndpoint(api)).toMatchObject({ headers: [], requests_per_second: null });
  });

  test('are set by its creation, sealed, and shown by name only', async () => {
    const made = await createEndpoint(api, { headers: [KEY, TENANT] });
    expect(made.headers).toEqual([{ name: 'X-Api-Key' }, { name: 'X-Tenant' }]);
    expect((await read(made.uuid)).headers).toEqual(made.headers);
    expect(inForce(made.uuid)).toEqual([KEY, TENANT]);
    expect(JSON.stringify(directory.endpoint(made.uuid))).not.toContain('canary');
    expect(JSON.stringify(await api.store.audit.list({ limit: 5 }))).not.toContain('canary');
    expect(api.logged.join('')).not.toContain('canary');
  });

  test('are replaced as a whole, and one without a value keeps the value of its name', async () => {
    const { uuid } = await createEndpoint(api, { headers: [KEY, TENANT] });
    const changed = await patch(uuid, { headers: [{ name: 'x-api-key' }, { name: 'X-New', value: 'n' }] });
    expect([changed.status, changed.body.headers]).toEqual([200, [{ name: 'x-api-key' }, { name: 'X-New' }]]);
    expect(inForce(uuid)).toEqual([
      { name: 'x-api-key', value: KEY.value },
      { name: 'X-New', value: 'n' },
    ]);
    await patch(uuid, { description: 'another' });
    expect(inForce(uuid)).toHaveLength(2);
    // What a read has shown keeps everything when it is sent back.
    await patch(uuid, { headers: (await read(uuid)).headers });
    expect(inForce(uuid)?.[0]?.value).toBe(KEY.value);
  });

  test.each([[null], [[]]])('are removed by %j', async (headers) => {
    const { uuid } = await createEndpoint(api, { headers: [KEY] });
    expect((await patch(uuid, { headers })).body.headers).toEqual([]);
    expect(inForce(uuid)).toBeUndefined();
  });

  test('keep each other’s changes when two requests change them at once', async () => {
    const { uuid } = await createEndpoint(api, { headers: [KEY] });
    const one = { headers: [{ name: 'X-Api-Key' }, { name: 'X-One', value: '1' }] };
    const other = { headers: [{ name: 'X-Api-Key' }, { name: 'X-Two', value: '2' }] };
    const answers = await Promise.all([patch(uuid, one), patch(uuid, other)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(inForce(uuid)?.[0]).toEqual(KEY);
    expect(inForce(uuid)).toHaveLength(2);
  });

  test('go with a check of the endpoint', async () => {
    const { uuid } = await createEndpoint(api, { headers: [KEY] });
    expect((await api.call('POST', `${ENDPOINTS}/${uuid}/check`)).status).toBe(200);
    expect(checked.at(-1)).toEqual([KEY]);
  });
});

describe('a list of headers', () => {
  const refusals = [
    [
      'a reserved name',
      [{ name: 'Webhook-Signature', value: 'v1,forged' }],
      '/headers/0/name',
      'Webhook-Signature',
    ],
    ['a name twice', [KEY, { ...KEY, name: 'x-API-key' }], '/headers/1/name', 'x-API-key'],
    ['a line break', [{ name: 'X-A', value: 'canary\r\nHost: evil' }], '/headers/0/value', 'X-A'],
    ['a letter beyond ASCII', [{ name: 'X-A', value: 'canäry' }], '/headers/0/value', 'X-A'],
    [
      'more than 4,096 characters',
      [1, 2, 3, 4, 5].map((n) => ({ name: `X-${n}`, value: 'canary'.repeat(150) })),
      '/headers',
      '4096',
    ],
  ] as const;

  test.each(refusals)(
    'with %s is refused, and the answer names it without a value',
    async (_what, headers, pointer, says) => {
      const { uuid } = await createEndpoint(api, { headers: [KEY] });
      const url = `https://hooks.merchant.com/${crypto.randomUUID()}`;
      const create = await api.call('POST', ENDPOINTS, { json: { url, description: 'Refused', headers } });
      for (const { status, body, text } of [await patch(uuid, { headers }), create]) {
        expect([status, body.code, body.errors[0].pointer]).toEqual([422, 'header_not_allowed', pointer]);
        expect(body.detail).toContain(says);
        expect(text).not.toContain('canary');
      }
      expect(inForce(uuid)).toEqual([KEY]);
    },
  );

  test('with a name that has no stored value is refused', async () => {
    const { uuid } = await createEndpoint(api, { headers: [KEY] });
    const { status, body } = await patch(uuid, { headers: [{ name: 'X-Api-Key' }, { name: 'X-Other' }] });
    expect([status, body.code, body.errors[0]]).toEqual([
      422,
      'header_not_allowed',
      expect.objectContaining({ pointer: '/headers/1/value', code: 'required' }),
    ]);
  });

  test('that does not match the description is refused, value unseen', async () => {
    const { uuid } = await createEndpoint(api);
    const many = Array.from({ length: 11 }, (_, i) => ({ name: `X-${i}`, value: 'canary' }));
    for (const headers of [
      many,
      [{ value: 'canary' }],
      [{ name: 'X', value: 1 }],
      [{ ...KEY, more: 'canary' }],
      [{ name: 'X-A', value: 'canary\0' }],
      'canary',
    ]) {
      const { status, body, text } = await patch(uuid, { headers });
      expect([status, body.code]).toEqual([400, 'validation_error']);
      expect(text).not.toContain('canary');
    }
  });

  test('may have a name that JavaScript gives a meaning', async () => {
    const { uuid } = await createEndpoint(api, { headers: [{ name: '__proto__', value: 'x' }] });
    expect((await read(uuid)).headers).toEqual([{ name: '__proto__' }]);
    expect(inForce(uuid)).toEqual([{ name: '__proto__', value: 'x' }]);
  });
});

describe('a limit of requests per second', () => {
  test('is set, changed, kept and removed, and senders know', async () => {
    const { uuid, requests_per_second } = await createEndpoint(api, { requests_per_second: 10 });
    expect([requests_per_second, directory.rates.get(uuid)]).toEqual([10, 10]);
    expect((await patch(uuid, { requests_per_second: 1000 })).body.requests_per_second).toBe(1000);
    await patch(uuid, { description: 'another' });
    expect(directory.rates.get(uuid)).toBe(1000);
    expect((await patch(uuid, { requests_per_second: null })).body.requests_per_second).toBeNull();
    expect(directory.rates.has(uuid)).toBe(false);
  });

  test.each([0, 1001, 1.5, -1, '10', true])('may not be %j', async (requests_per_second) => {
    const { uuid } = await createEndpoint(api);
    expect((await patch(uuid, { requests_per_second })).status).toBe(400);
  });

  test('is forgotten by senders when the endpoint is deleted', async () => {
    const { uuid } = await createEndpoint(api, { requests_per_second: 10 });
    await api.call('DELETE', `${ENDPOINTS}/${uuid}`);
    expect(directory.rates.has(uuid)).toBe(false);
  });
});
