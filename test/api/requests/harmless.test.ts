/** Harmless variants of a request are taken; what is refused is told in words that say what to write instead. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { speak as speakTo } from '../../support/api/raw-http.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { jsonEventOf } from '../../support/records/events.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ limits: { headersTimeoutMs: 300, requestTimeoutMs: 600 } });
});
afterAll(() => api.close());

interface Heard {
  readonly status: number;
  readonly head: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields they expect.
  readonly body: any;
}

/** Sends bytes as they are, and returns the one answer before the server ends the connection. */
async function speak(bytes: string): Promise<Heard> {
  const [head = '', ...rest] = (await speakTo(api.api.port, bytes)).split('\r\n\r\n');
  const json = /\{.*\}/s.exec(rest.join('\r\n\r\n'))?.[0];
  const body = json === undefined ? null : JSON.parse(json);
  return { status: Number(head.split(' ')[1]), head, body };
}

const ask = (line: string, headers: readonly string[], body = '') =>
  speak(
    `${line} HTTP/1.1\r\n${['Host: localhost', `Authorization: API-Key ${api.keys.own}`, 'Connection: close', ...headers].join('\r\n')}\r\n\r\n${body}`,
  );
const CHUNKED = 'Transfer-Encoding: chunked';

describe('an empty chunked body', () => {
  test.each([
    [[]],
    [['Content-Type: application/json']],
    [['Content-Type: text/plain']],
    [['Content-Encoding: gzip']],
  ])('is no body, with the headers %j', async (headers) => {
    const { uuid } = await createEndpoint(api);
    const path = `${ENDPOINTS}/${uuid}`;
    expect((await ask(`GET ${path}`, [CHUNKED, ...headers], '0\r\n\r\n')).status).toBe(200);
    expect((await ask(`PATCH ${path}/secret`, [CHUNKED, ...headers], '0\r\n\r\n')).status).toBe(200);
    expect((await ask(`DELETE ${path}`, [CHUNKED, ...headers], '0\r\n\r\n')).status).toBe(204);
    const created = await ask(`POST ${ENDPOINTS}`, [CHUNKED, ...headers], '0\r\n\r\n');
    expect([created.status, created.body.errors[0].code]).toEqual([400, 'required']);
  });

  test('with a byte in it is a body', async () => {
    const { uuid } = await createEndpoint(api);
    const path = `${ENDPOINTS}/${uuid}`;
    const typeless = await ask(`PATCH ${path}/secret`, [CHUNKED], '2\r\n{}\r\n0\r\n\r\n');
    expect([typeless.status, typeless.body.code]).toEqual([415, 'unsupported_media_type']);
    const typed = await ask(
      `PATCH ${path}/secret`,
      [CHUNKED, 'Content-Type: application/json'],
      '2\r\n{}\r\n0\r\n\r\n',
    );
    expect(typed.status).toBe(200);
  });
});

test.each([
  ...['utf-8', 'UTF-8', 'utf8', 'UTF8', '"utf8"', 'unicode-1-1-utf-8', 'x-unicode20utf8'].map(
    (label) => `application/json; charset=${label}`,
  ),
  ...['application/json;', 'Application/JSON', 'application/json;charset=utf8;v=1', 'application/json; v'],
])('a body with Content-Type %s is taken', async (type) => {
  const json = { url: `https://hooks.merchant.com/${crypto.randomUUID()}`, description: 'é' };
  const answer = await api.call('POST', ENDPOINTS, { json, headers: { 'content-type': type } });
  expect([answer.status, answer.body.description]).toEqual([201, 'é']);
});

test.each(['utf-16', 'utf-16le', 'latin1', 'iso-8859-1', 'utf-7', 'nonsense'])(
  'a body with the charset %s is refused',
  async (charset) => {
    const headers = { 'content-type': `application/json; charset=${charset}` };
    const answer = await api.call('POST', ENDPOINTS, { json: {}, headers });
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
  },
);

test('a body with a byte order mark is taken', async () => {
  const url = `https://hooks.merchant.com/${crypto.randomUUID()}`;
  const raw = `\ufeff{"url":"${url}","description":"d"}`;
  expect((await api.call('POST', ENDPOINTS, { raw })).status).toBe(201);
});

test.each([
  'subType=two+words',
  'subType=%C3%9F+%10w',
  'subType=+',
  'subType=a+b+c&type=KYC',
  'subType=a%2Bb',
])('a query with ?%s is taken: + is a space in form encoding', async (query) => {
  for (const path of ['/merchant/events', '/merchant/deliveries']) {
    const answer = await api.call('GET', `${path}?${query}`);
    expect([path, answer.status, answer.body.data]).toEqual([path, 200, []]);
  }
});

test('subscribed_events null at creation is every type, and a description of white space is none', async () => {
  const { subscribed_events } = await createEndpoint(api, { subscribed_events: null });
  expect(subscribed_events).toBe((await createEndpoint(api)).subscribed_events);
  const { uuid } = await createEndpoint(api);
  for (const description of ['', ' ', '\t\n', '\u00a0\u2003']) {
    const json = { url: 'https://hooks.merchant.com/blank', description };
    for (const answer of [
      await api.call('POST', ENDPOINTS, { json }),
      await api.call('PATCH', `${ENDPOINTS}/${uuid}`, { json: { description } }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
      expect(answer.body.errors).toEqual([
        expect.objectContaining({ pointer: '/description', code: 'required' }),
      ]);
    }
  }
});

describe('the words of a refusal', () => {
  test.each([
    ['since=2026-01-31T12:00:00+01:00', 'write + as %2B', '2026-01-31T12:00:00%2B01:00'],
    ['since=2026-01-31', 'a date without a time', '2026-01-31T00:00:00Z'],
    ['until=2026-01-31T12:00:00', 'no offset', 'T12:00:00Z'],
    ['since=1764000000', 'looks like seconds', '2025-11-24T16:00:00.000Z'],
    ['since=1764000000000', 'looks like milliseconds', '2025-11-24T16:00:00.000Z'],
    ['until=yesterday', 'with an offset, such as', 'RFC 3339'],
    ['status=delivered,failed', 'takes one value, not a list', ''],
    ['status=delivered%2Cfailed', 'takes one value, not a list', ''],
    ['status=delivered&status=failed', 'takes one value, not a list', ''],
    ['subtype=PENDING', 'did you mean subType', ''],
    ['subType=%00', 'U+0000', ''],
  ])('about ?%s say what to write', async (query, words, example) => {
    const { status, body } = await api.call('GET', `/merchant/deliveries?${query}`);
    expect([status, body.code]).toEqual([400, 'validation_error']);
    expect(body.errors[0].pointer).toMatch(/^\/query\/(since|until|status|sub[tT]ype)$/);
    expect(body.errors[0].detail).toContain(words);
    expect(body.errors[0].detail).toContain(example);
    expect(body.detail).toContain(words);
  });

  test.each([
    [`${ENDPOINTS}/`, ENDPOINTS],
    [`${ENDPOINTS}//${'a'.repeat(8)}/deliveries/`, `${ENDPOINTS}/${'a'.repeat(8)}/deliveries`],
    ['//merchant/events', '/merchant/events'],
    ['/Merchant/Events', '/merchant/events'],
  ])('about %s name the path that was meant', async (path, meant) => {
    const { status, body } = await api.call('GET', path);
    expect([status, body.code]).toEqual([404, 'route_not_found']);
    expect(body.detail).toContain(`did you mean ${meant}?`);
  });

  test.each([
    ['{"url":}', 'line 1, column 8: a value is expected'],
    ['{"url": "a",}', 'line 1, column 13: a name in double quotes is expected'],
    ['{\n  "url": "a"\n  "b": 1}', 'line 3, column 3: a comma or the end'],
    ["{'url': 1}", 'line 1, column 2: a name in double quotes'],
    ['[1, 2', 'line 1, column 6: a comma or the end'],
    ['{"a":1}{"b":2}', 'line 1, column 8: nothing more is expected'],
    ['{"a": 01}', 'line 1, column 8: a comma'],
    ['{"a": "tab\there"}', 'line 1, column 11: a double quote, or the control character'],
  ])('about the malformed JSON %j name its place', async (raw, place) => {
    for (const path of [ENDPOINTS, '/producer/events']) {
      const key = path === ENDPOINTS ? api.keys.own : api.keys.producer;
      const { status, body } = await api.call('POST', path, { raw, key });
      expect([status, body.code]).toEqual([400, 'malformed_json']);
      expect(body.detail).toContain(place);
    }
  });

  test('about an amount that is given twice name its place, in an array too', async () => {
    const event = JSON.stringify(jsonEventOf(api.merchantId, 'twice given'));
    const twice = event.replace('"data":{', '"data":{"amount\\u0046iat":"1","amountFiat":"2",');
    const { keys } = api;
    const alone = await api.call('POST', '/producer/events', { raw: twice, key: keys.producer });
    expect([alone.status, alone.body.code]).toEqual([400, 'validation_error']);
    expect(alone.body.errors).toEqual([
      expect.objectContaining({ pointer: '/data/amountFiat', code: 'repeated_field' }),
    ]);
    const array = await api.call('POST', '/producer/events', {
      raw: `[${event}, ${twice}]`,
      key: keys.producer,
    });
    expect(array.body.errors[0].pointer).toBe('/1/data/amountFiat');
    const raw = '{"url":"https://a.merchant.com/1","description":"d","url":"https://b.merchant.com/2"}';
    expect((await api.call('POST', ENDPOINTS, { raw })).body.errors[0].pointer).toBe('/url');
  });
});

describe('a refusal of the HTTP server itself', () => {
  const key = () => `Authorization: API-Key ${api.keys.own}`;
  test.each<[string, () => string, number, string]>([
    [
      'no Host',
      () => `GET ${ENDPOINTS} HTTP/1.1\r\n${key()}\r\nConnection: close\r\n\r\n`,
      400,
      'malformed_request',
    ],
    [
      'an Expect that nobody can meet',
      () =>
        `POST ${ENDPOINTS} HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\nConnection: close\r\n${key()}\r\n\r\n`,
      417,
      'expectation_failed',
    ],
    ['a malformed request line', () => 'GET  /merchant\r\n\r\n', 400, 'malformed_request'],
    ['an unknown method', () => 'FETCH /merchant HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['CONNECT', () => 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n', 400, 'malformed_request'],
    ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
    [
      'headers that are too large',
      () => `GET /merchant HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'two lengths',
      () => `POST ${ENDPOINTS} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      400,
      'malformed_request',
    ],
    [
      'a malformed chunk',
      () => `POST ${ENDPOINTS} HTTP/1.1\r\nHost: localhost\r\n${key()}\r\n${CHUNKED}\r\n\r\nzz\r\n`,
      400,
      'malformed_request',
    ],
    ['headers that never end', () => 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ', 408, 'request_timeout'],
  ])('is a problem document: %s', async (_what, bytes, status, code) => {
    const heard = await speak(bytes());
    expect([heard.status, heard.body?.code]).toEqual([status, code]);
    expect(heard.head).toMatch(/\r\ncontent-type: application\/problem\+json/i);
    expect(heard.head).toContain(heard.body.request_id);
  });

  test('is none for HTTP/1.0 without Host, nor for Expect: 100-continue', async () => {
    expect((await speak(`GET ${ENDPOINTS} HTTP/1.0\r\n${key()}\r\n\r\n`)).status).not.toBe(400);
    const { head } = await ask(`GET ${ENDPOINTS}`, ['Expect: 100-continue']);
    expect(head).toMatch(/^HTTP\/1.1 (100 Continue|200 OK)/);
  });
});
