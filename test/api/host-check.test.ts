/**
 * Promise: no web page reaches the sandbox of its reader under a name of its own (DNS rebinding). Addresses, localhost,
 * names without a dot and configured names pass; production is behind a proxy that has its name.
 */
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINTS, startTestApi, type TestApi } from '../support/api/test-api.ts';

let sandbox: TestApi;
let production: TestApi;
beforeAll(async () => {
  sandbox = await startTestApi({ names: ['Tunnel.example'], trustedProxies: ['127.0.0.2'] });
  production = await startTestApi({ environment: 'production' });
});
afterAll(() => Promise.all([sandbox.close(), production.close()]));

interface Asked {
  readonly path?: string;
  readonly localAddress?: string;
  readonly headers?: Record<string, string>;
}

function ask(
  api: TestApi,
  host: string,
  { path = '/docs/', localAddress = '127.0.0.1', headers = {} }: Asked = {},
) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const options = { localAddress, setHost: false, headers: { Host: host, ...headers } };
    request(api.api.url + path, options, (response) => {
      response.toArray().then((chunks) => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      }, reject);
    })
      .once('error', reject)
      .end();
  });
}

test.each([
  ...['localhost', 'LOCALHOST:8080', '127.0.0.1', '127.0.0.1:8080', '[::1]:8080', '192.168.1.9', '[fd00::1]'],
  ...['api', 'api:8080', 'hookrail_api-1:8080', 'tunnel.example', 'TUNNEL.example:443', ''],
])('the sandbox answers to the host %j', async (host) => {
  expect((await ask(sandbox, host)).status).toBe(200);
});

test.each([
  ...['evil.example', 'evil.example:8080', 'localhost.evil.example', '127.0.0.1.nip.io', '127.evil.example'],
  ...[
    'localhost.',
    'localhost.:8080',
    '127.0.0.1.',
    '[::1].evil.example',
    '[::1',
    '[evil.example]',
    '127.1.',
  ],
  ...[
    'a.tunnel.example',
    'tunnel.example.',
    'xn--80ak6aa92e.example',
    'evil.local',
    '0x7f.1',
    '127.0.0.1@evil.example',
  ],
  ...['evil.example:80:80', 'a b', '127.0.0.1,evil.example', '%6cocalhost'],
])('the sandbox does not answer to the host %j', async (host) => {
  for (const path of ['/', '/docs/', '/openapi.yaml', ENDPOINTS, '/producer/events', '/nothing']) {
    const headers = { authorization: `API-Key ${sandbox.keys.own}` };
    const { status, text } = await ask(sandbox, host, { path, headers });
    expect([path, status, JSON.parse(text).code]).toEqual([path, 421, 'unknown_host']);
    expect(text).toContain('HOOKRAIL_API_NAMES');
  }
});

test('the host of an absolute target counts in place of the header', async () => {
  const heard = await new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(sandbox.api.url);
    const socket = connect(Number(port), hostname);
    socket.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject);
    socket.end('GET http://evil.example/docs/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  });
  expect(heard).toMatch(/^HTTP\/1.1 421 /);
});

test('a trusted proxy on this machine brings requests from elsewhere under its own name', async () => {
  const proxied = { localAddress: '127.0.0.2', headers: { 'x-forwarded-for': '192.0.2.1' } };
  expect((await ask(sandbox, 'sandbox.example.com', proxied)).status).toBe(200);
  expect((await ask(sandbox, 'sandbox.example.com', { ...proxied, localAddress: '127.0.0.3' })).status).toBe(
    421,
  );
});

test('production answers to every name: its proxy has one', async () => {
  expect((await ask(production, 'api.example.com')).status).toBe(200);
});
