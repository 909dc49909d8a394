/** HTTP faults that the API must survive: paths, methods, bodies, headers, floods, slow callers. */

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { speak as speakTo } from '../support/api/raw-http.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    names: ['api.merchant.com'],
    limits: { headersTimeoutMs: 300, requestTimeoutMs: 600 },
  });
});
afterAll(() => api.close());

const speak = (bytes: string) => speakTo(api.api.port, bytes);

describe('the routes of the API', () => {
  test.each([
    '/merchants',
    `${ENDPOINTS}/`,
    `${ENDPOINTS}/a/b/c`,
    '/Merchant/webhook-endpoints',
    '/docs.html',
  ])('answer 404 to GET %s, without a key too', async (path) => {
    const answer = await api.call('GET', path, { key: null });
    expect([answer.status, answer.body.code]).toEqual([404, 'route_not_found']);
  });

  test.each([
    ['PUT', ENDPOINTS, 'POST, GET, HEAD'],
    ['DELETE', ENDPOINTS, 'POST, GET, HEAD'],
    ['POST', `${ENDPOINTS}/${crypto.randomUUID()}`, 'GET, HEAD, PATCH, DELETE'],
    ['GET', `${ENDPOINTS}/${crypto.randomUUID()}/secret`, 'PATCH'],
    ['POST', '/merchant', 'GET, HEAD, PATCH'],
    ['OPTIONS', `${ENDPOINTS}/${crypto.randomUUID()}/test`, 'POST'],
    ['GET', '/producer/events', 'POST'],
  ])('answer 405 to %s %s, with the allowed methods', async (method, path, allow) => {
    const answer = await api.call(method, path);
    expect([answer.status, answer.body.code, answer.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      allow,
    ]);
  });

  test('answer HEAD like GET, without the body', async () => {
    const response = await fetch(api.api.url + ENDPOINTS, {
      method: 'HEAD',
      headers: { authorization: `API-Key ${api.keys.own}` },
    });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('answer 400 to a path that cannot be decoded', async () => {
    const answer = await api.call('GET', `${ENDPOINTS}/%E0%A4%A`);
    expect([answer.status, answer.body.code]).toEqual([400, 'malformed_request']);
  });
});

describe('the request target', () => {
  const ask = (target: string, hosts: readonly string[]) =>
    speak(
      `GET ${target} HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join('')}` +
        `Authorization: API-Key ${api.keys.own}\r\nConnection: close\r\n\r\n`,
    );

  test.each([
    `http://api.merchant.com${ENDPOINTS}`,
    `HTTPS://api.merchant.com:8443${ENDPOINTS}?limit=1`,
    `http://[::1]:8080${ENDPOINTS}`,
    'http://api.merchant.com/merchant',
  ])('%s is served like the path in it', async (target) => {
    expect(await ask(target, ['other'])).toMatch(/^HTTP\/1.1 200 /);
  });

  test('that is absolute without a path means the root', async () => {
    expect(await ask('http://api.merchant.com', ['x'])).toContain('"reference"');
    expect(await ask('http://api.merchant.com?a=b', ['x'])).toContain('"reference"');
  });

  test.each([
    'http:///merchant',
    'http://a@b/merchant',
    'http://a:b:c/merchant',
    'http://a:99999/merchant',
    'http://[::1/merchant',
    'ftp://a/merchant',
    '*',
  ])('%s is refused with 400', async (target) => {
    const heard = await ask(target, ['x']);
    expect(heard).toMatch(/^HTTP\/1.1 400 /);
    expect(heard).toContain('"malformed_request"');
  });

  test('is refused with 400 beside two Host lines', async () => {
    const heard = await ask('/merchant', ['x', 'x']);
    expect(heard).toMatch(/^HTTP\/1.1 400 /);
    expect(heard).toContain('more than one Host line');
    expect(api.logged.filter((line) => line.includes('internal_error'))).toEqual([]);
  });
});

describe('the request body', () => {
  const json = { url: 'https://hooks.merchant.com/h', description: 'd' };

  test.each(['{', '', '{"url":}', 'undefined', '{"a":1}{"b":2}'])(
    '%j is not a JSON document',
    async (raw) => {
      const answer = await api.call('POST', ENDPOINTS, { raw });
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe(raw === '' ? 'validation_error' : 'malformed_json');
    },
  );

  test('of bytes that are not UTF-8 is not JSON', async () => {
    const raw = Buffer.from('{"url":"https://hooks.merchant.com/\xe9","description":"d"}', 'latin1');
    expect((await api.call('POST', ENDPOINTS, { raw })).body.code).toBe('malformed_json');
  });

  test.each([
    'text/plain',
    'application/xml',
    'application/json; charset=latin1',
    'multipart/form-data; boundary=x',
  ])('with Content-Type %s is answered with 415', async (type) => {
    const answer = await api.call('POST', ENDPOINTS, { json, headers: { 'content-type': type } });
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
  });

  test('that is compressed is answered with 415', async () => {
    const raw = gzipSync(JSON.stringify(json));
    const answer = await api.call('POST', ENDPOINTS, { raw, headers: { 'content-encoding': 'gzip' } });
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
  });

  test('may have 64 KiB, and not more', async () => {
    const filler = (size: number) => `{"description":"${'x'.repeat(size - 18)}"}`;
    expect((await api.call('POST', ENDPOINTS, { raw: filler(65_536) })).body.code).toBe('validation_error');
    const answer = await api.call('POST', ENDPOINTS, { raw: filler(65_537) });
    expect([answer.status, answer.body.code]).toEqual([413, 'payload_too_large']);
  });

  test.each([
    ['20,000 empty objects', `{"subscribed_events":[${Array(20_000).fill('{}')}]}`],
    ['10,000 unknown members', `{${Array.from({ length: 5_000 }, (_, i) => `"m${i}":[]`)}}`],
    ['20,000 lists in one another', '['.repeat(20_000) + ']'.repeat(20_000)],
  ])('of %s is refused before it is validated', async (_what, raw) => {
    const answer = await api.call('POST', ENDPOINTS, { raw });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([
      { pointer: '', code: 'too_long', detail: 'must have at most 200 values in total' },
    ]);
  });

  test('with a filter of more than 100 types is refused', async () => {
    const answer = await api.call('POST', ENDPOINTS, {
      json: { ...json, subscribed_events: Array(101).fill('KYC') },
    });
    expect([answer.status, answer.body.errors[0].code]).toEqual([400, 'too_long']);
  });

  test('is required where the operation needs one', async () => {
    const answer = await api.call('POST', ENDPOINTS);
    expect([answer.status, answer.body.errors[0].code]).toEqual([400, 'required']);
  });
});

describe('an answer of the API', () => {
  test('may not be cached, sniffed or framed, and does not name the server software', async () => {
    const { headers } = await api.call('GET', ENDPOINTS);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-powered-by')).toBeNull();
  });

  test('has a request id of its own, which is also in the one log line', async () => {
    const { uuid } = await createEndpoint(api, { description: 'never to be logged' });
    const answer = await api.call('GET', `${ENDPOINTS}/${uuid}?colour=red`);
    const lines = api.logged
      .map((line) => JSON.parse(line))
      .filter(({ request_id }) => request_id === answer.body.request_id);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      event: 'api_request',
      method: 'GET',
      route: `${ENDPOINTS}/{id}`,
      status: 400,
      code: 'validation_error',
      key_id: api.keyIds.own,
    });
    expect(api.logged.join('')).not.toContain('never to be logged');
    expect(api.logged.join('')).not.toContain('colour');
  });

  test('is counted in the metrics by route template', async () => {
    await api.call('GET', `${ENDPOINTS}/${crypto.randomUUID()}`);
    const metrics = await api.registry.metrics();
    expect(metrics).toContain(
      `hookrail_api_requests_total{method="GET",route="${ENDPOINTS}/{id}",status="404"}`,
    );
    expect(metrics).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
  });
});

describe('the rate limit', () => {
  test('applies per key; each answer tells the state, a refused one when to come again', async () => {
    const limited = await startTestApi({ rateLimitPerMinute: 3, testRateLimitPerMinute: 1 });
    try {
      const { uuid } = await createEndpoint(limited);
      const body = { type: 'KYC', subType: 'FULL_USER', user_uuid: uuid };
      const first = await limited.call('POST', `${ENDPOINTS}/${uuid}/test`, { json: body });
      expect(first.status).toBe(202);
      expect(first.headers.get('ratelimit')).toMatch(/"requests"; r=1; t=\d+.*"tests"; r=0; t=\d+/);
      expect(first.headers.get('ratelimit-policy')).toMatch(/"requests"; q=3; w=60/);
      const second = await limited.call('POST', `${ENDPOINTS}/${uuid}/test`, { json: body });
      expect([second.status, second.body.code]).toEqual([429, 'rate_limited']);
      const third = await limited.call('GET', ENDPOINTS);
      expect([third.status, third.body.code]).toEqual([429, 'rate_limited']);
      expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await limited.call('GET', ENDPOINTS, { key: limited.keys.foreign })).status).toBe(200);
      expect((await limited.call('GET', ENDPOINTS, { key: limited.keys.revoked })).status).toBe(401);
    } finally {
      await limited.close();
    }
  });
});

describe('a caller that is slow or does not speak HTTP', () => {
  test('gets 408 when its headers never end', async () => {
    const heard = await speak('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    expect(heard).toMatch(/^HTTP\/1.1 408 .*\r\n/);
    expect(heard).toMatch(/x-request-id: [0-9a-f-]{36}/i);
    expect(JSON.parse(heard.split('\r\n\r\n')[1] ?? '').code).toBe('request_timeout');
  });

  test('is disconnected when its body never ends', async () => {
    const head = `POST ${ENDPOINTS} HTTP/1.1\r\nHost: x\r\nAuthorization: API-Key ${api.keys.own}\r\n`;
    const heard = await speak(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    expect(heard).toMatch(/^HTTP\/1.1 408 /);
  });

  test('gets 431 for headers of more than 16 KiB', async () => {
    const heard = await speak(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(heard).toMatch(/^HTTP\/1.1 431 /);
    expect(JSON.parse(heard.split('\r\n\r\n')[1] ?? '').code).toBe('headers_too_large');
  });

  test('gets 400 when it does not speak HTTP', async () => {
    const heard = await speak('hello\r\n\r\n');
    expect(heard).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(heard.split('\r\n\r\n')[1] ?? '').code).toBe('malformed_request');
  });
});
