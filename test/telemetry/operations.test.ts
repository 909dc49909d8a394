/**
 * Promise: no web page reads the operations server by DNS rebinding, and neither the operator's token nor what commands
 * answer crosses a network; probes and Prometheus are answered wherever they are.
 */
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const FAILED_MAX = 60;
/** An address of this machine in a network: a connection from it to 127.0.0.1 looks like one from elsewhere. */
const elsewhere = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address;

let setup: ServiceSetup;
let service: Service;
let port: number;
let token: string;
beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_OPS_HOST: '0.0.0.0', HOOKRAIL_OPS_NAMES: 'hookrail.monitoring.svc' });
  service = await startService(setup.environment);
  port = Number(new URL(service.operationsUrl).port);
  token = readFileSync(join(setup.dataDir, 'operator.token'), 'utf8').trim();
}, 60_000);
afterAll(() => service?.end('SIGTERM'));

interface Asked {
  readonly path?: string;
  readonly localAddress?: string | undefined;
  readonly to?: string | undefined;
  readonly bearer?: string;
}

function ask(host: string, { path = '/readyz', localAddress, to, bearer }: Asked = {}) {
  return new Promise<{ status: number; text: string; retryAfter: number }>((resolve, reject) => {
    const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    request(
      {
        ...{ host: to ?? '127.0.0.1', port, path, setHost: false, headers: { Host: host, ...authorization } },
        ...(localAddress === undefined ? {} : { localAddress }),
        method: path.startsWith('/operator') ? 'POST' : 'GET',
      },
      (response) => {
        const retryAfter = Number(response.headers['retry-after']);
        response.toArray().then((chunks) => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, text, retryAfter });
        }, reject);
      },
    )
      .once('error', reject)
      .end();
  });
}

describe('the operations server', () => {
  test.each([
    ...['127.0.0.1', '127.0.0.1:8081', '10.42.0.17:8081', '[fd00::17]:8081', '[::1]', 'localhost:8081'],
    ...['LocalHost', '0.0.0.0:8081', 'hookrail.monitoring.svc:8081', ''],
  ])('answers to the host %j', async (host) => {
    for (const path of ['/livez', '/readyz', '/metrics'])
      expect([path, (await ask(host, { path })).status]).toEqual([path, 200]);
  });

  test.each([
    ...[
      'evil.example',
      'evil.example:8081',
      'localhost.evil.example',
      '127.0.0.1.nip.io',
      '127.evil.example',
    ],
    ...[
      'localhost.',
      '127.0.0.1.',
      '[::1].evil.example',
      '[evil.example]',
      'svc',
      'x.hookrail.monitoring.svc',
    ],
    ...['10.42.0.17.evil.example', '10.42.0.17:80:81', '2130706433', '0x7f.1', 'a@127.0.0.1'],
  ])('does not answer this machine to the host %j', async (host) => {
    for (const path of ['/livez', '/readyz', '/metrics', '/operator/merchants-list', '/nothing']) {
      const { status, text } = await ask(host, { path, bearer: token });
      expect([path, status]).toEqual([path, 421]);
      expect(JSON.parse(text).error).toContain('HOOKRAIL_OPS_NAMES');
    }
  });

  test('answers a health check that names no host, as HAProxy sends it', async () => {
    const heard = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject);
      socket.end('GET /livez HTTP/1.0\r\n\r\n');
    });
    expect(heard).toMatch(/^HTTP\/1.1 200 /);
  });

  test.skipIf(!elsewhere)('answers other machines to the name of a container, too, and no site', async () => {
    const from = { localAddress: elsewhere, path: '/metrics' };
    for (const [host, status] of [
      ['api:8081', 200],
      ['hookrail_api-1:8081', 200],
      ['10.42.0.17:8081', 200],
      ['evil.example', 421],
      ['api.evil.example:8081', 421],
    ] as const)
      expect([host, (await ask(host, from)).status]).toEqual([host, status]);
  });
});

describe('the operator’s commands', () => {
  const path = '/operator/merchants-list';
  const list = (bearer: string, from: Asked = {}) => ask('127.0.0.1', { path, bearer, ...from });

  test.skipIf(!elsewhere)(
    'are refused to other machines, with the token too, and say how to run them',
    async () => {
      for (const bearer of [token, 'wrong']) {
        const { status, text } = await list(bearer, { localAddress: elsewhere });
        expect([status, JSON.parse(text).error]).toEqual([
          403,
          expect.stringContaining('docker compose exec'),
        ]);
      }
    },
  );

  test.skipIf(!elsewhere)('are taken from this machine, whichever of its addresses they go to', async () => {
    expect((await list(token, { localAddress: elsewhere, to: elsewhere })).status).toBe(200);
    expect((await list(token, { localAddress: '127.0.0.3' })).status).toBe(200);
  });

  test('tell a stranger nothing of the token, and take no more than some wrong ones a minute', async () => {
    for (let n = 0; n < FAILED_MAX; n += 1) {
      const { status, text } = await list(`${token.slice(0, -1)}${n % 10}${n}`);
      expect([status, text]).toEqual([401, '{"error":"the token is wrong"}']);
    }
    const { status, retryAfter } = await list('wrong');
    expect(status).toBe(429);
    expect(retryAfter).toBeGreaterThan(0);
    expect((await list(token)).status).toBe(200);
  });

  test('are run by the tool over loopback, though the server listens everywhere', async () => {
    const where = { ...setup.environment, HOOKRAIL_OPS_PORT: String(port) };
    expect(await toolAnswer(where, 'merchants', 'list')).toHaveLength(1);
    const other = { ...where, HOOKRAIL_OPS_PORT: '1' };
    const { code, err } = await runTool(other, 'merchants', 'list');
    expect(code).toBe(1);
    expect(err).toContain(`with the token in ${join(setup.dataDir, 'operator.token')}`);
  });

  test('include a status that says which setting helps where another process has another name', async () => {
    // What a process answers to a name that leads to it and is not its own: no such name is sure to exist here.
    const refusal = await ask('evil.example');
    const other = createServer((_request, response) => response.writeHead(refusal.status).end(refusal.text));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port: otherPort } = other.address() as AddressInfo;
    const where = { ...setup.environment, HOOKRAIL_OPS_PORT: String(port) };
    const { code, err } = await runTool(where, 'status', `http://127.0.0.1:${otherPort}`);
    other.close();
    expect([code, err]).toEqual([1, expect.stringContaining('HOOKRAIL_OPS_NAMES')]);
  });

  test('are run by the tool over IPv6', { timeout: 60_000 }, async () => {
    const ipv6 = await prepareSetup({ HOOKRAIL_OPS_HOST: '::1' });
    const running = await startService(ipv6.environment);
    try {
      const where = { ...ipv6.environment, HOOKRAIL_OPS_PORT: new URL(running.operationsUrl).port };
      expect(await toolAnswer(where, 'merchants', 'list')).toHaveLength(1);
      expect((await runTool(where, 'status')).code).toBe(0);
    } finally {
      await running.end('SIGTERM');
    }
  });
});
