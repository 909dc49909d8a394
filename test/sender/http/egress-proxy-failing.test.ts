/** Guarantee: readiness says that the egress proxy cannot be used, for as long as it cannot, and asks a silent one again. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { parseEgressProxy } from '../../../services/egress/egress-proxy.ts';
import { type Clock, systemClock } from '../../../services/process/clock.ts';
import { Tunnels } from '../../../services/sender/http/egress-proxy.ts';
import { eventually } from '../../support/eventually.ts';

const ADDRESS = '93.184.216.34';
const TIMEOUT_MS = 400;
const MINUTE_MS = 60_000;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

/** The answer to a CONNECT, as bytes; null: none. */
type Reply = string | null;

interface Proxy {
  readonly port: number;
  reply: Reply;
  answerItself: RequestListener;
}

const OPEN = 'HTTP/1.1 200 Connection established\r\n\r\n';
const refusing = (status: number, more = '') =>
  `HTTP/1.1 ${status} No\r\n${more}Content-Length: 0\r\nConnection: close\r\n\r\n`;

async function startProxy(reply: Reply, port = 0): Promise<Proxy> {
  const server: Server = createServer((request, response) => proxy.answerItself(request, response));
  server.on('connect', (_request, client: Socket) => {
    client.on('error', () => {});
    closing.push(() => client.destroy());
    if (proxy.reply !== null) client.write(proxy.reply);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const proxy: Proxy = {
    port: (server.address() as AddressInfo).port,
    reply,
    answerItself: (_request, response) => void response.writeHead(501).end(),
  };
  return proxy;
}

/** The tunnels of a sender, whose clock can be set forward. */
function sender(port: number) {
  const offset = { ms: 0 };
  const system = systemClock();
  const clock: Clock = {
    ...system,
    now: () => system.now() + offset.ms,
    at: (time, run) => system.at(time - offset.ms, run),
  };
  const tunnels = Tunnels.through(parseEgressProxy(`http://127.0.0.1:${port}`), clock, TIMEOUT_MS);
  if (!tunnels) throw new Error('there is no proxy');
  const connect = async () => {
    const tunnel = tunnels.open(ADDRESS, 443);
    const stop = system.at(system.now() + TIMEOUT_MS, () => tunnel.cancel());
    await tunnel.opened.then(
      (socket) => void socket.destroy(),
      () => {},
    );
    stop();
  };
  const pass = (ms: number) => {
    offset.ms += ms;
  };
  return { tunnels, connect, pass, now: () => clock.now() };
}

describe('an egress proxy whose CONNECT is', () => {
  test.each([
    ['answered 400', refusing(400)],
    ['answered 405', refusing(405)],
    ['answered 407', refusing(407, 'Proxy-Authenticate: Basic realm="proxy"\r\n')],
    ['answered 429', refusing(429)],
    ['answered 500', refusing(500)],
    ['answered 503', refusing(503, 'Retry-After: 5\r\n')],
    ['cannot be used: HPE_INVALID_CONSTANT', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ])('%s fails until one succeeds, and is believed for a minute', async (words, reply) => {
    const proxy = await startProxy(reply);
    const { tunnels, connect, pass } = sender(proxy.port);
    expect(tunnels.failing).toBeNull();
    await connect();
    expect(tunnels.failing).toBe(`the egress proxy at 127.0.0.1:${proxy.port} ${words}`);
    pass(MINUTE_MS / 2);
    expect(tunnels.failing).toContain(words);
    proxy.reply = OPEN;
    await connect();
    expect(tunnels.failing).toBeNull();
    proxy.reply = reply;
    await connect();
    pass(MINUTE_MS + 1);
    expect(tunnels.failing).toBeNull();
  });

  test.each([200, 403, 451, 502, 503, 504])(
    'answered %d is about the address, and the proxy works',
    async (status) => {
      const proxy = await startProxy(refusing(500));
      const { tunnels, connect } = sender(proxy.port);
      await connect();
      expect(tunnels.failing).toContain('answered 500');
      proxy.reply = status === 200 ? OPEN : refusing(status);
      await connect();
      expect(tunnels.failing).toBeNull();
    },
  );
});

describe('an egress proxy that is not reached', () => {
  test('is asked again without a CONNECT, and works as soon as it answers', async () => {
    const port = await freePort();
    const { tunnels, connect, pass } = sender(port);
    await connect();
    expect(tunnels.failing).toBe(`the egress proxy at 127.0.0.1:${port} cannot be used: ECONNREFUSED`);
    pass(1500);
    expect(tunnels.failing).toContain('ECONNREFUSED');
    await startProxy(OPEN, port);
    // Less than a minute in all: a fault that is older is forgotten without a question.
    let passes = 0;
    await eventually('the proxy works', () => {
      passes += 1;
      if (passes < MINUTE_MS / 2 / 1500) pass(1500);
      return tunnels.failing === null;
    });
  });

  test('still fails when it comes back and refuses our credentials', async () => {
    const port = await freePort();
    const { tunnels, connect, pass } = sender(port);
    await connect();
    const proxy = await startProxy(OPEN, port);
    proxy.answerItself = (_request, response) => void response.writeHead(407).end();
    await eventually('the refusal is told', () => {
      pass(1500);
      return tunnels.failing?.includes('answered 407');
    });
    pass(MINUTE_MS / 2);
    expect(tunnels.failing).toContain('answered 407');
  });

  test('is told when it hangs; a tunnel that we gave up is no fault of it', async () => {
    const proxy = await startProxy(null);
    proxy.answerItself = () => {};
    const { tunnels, connect, now } = sender(proxy.port);
    const askedAt = now();
    await connect();
    expect(tunnels.failing).toBeNull();
    expect(tunnels.unanswered(askedAt).facts.ownFault).toBe('egress_proxy');
    expect(tunnels.failing).toBe(`the egress proxy at 127.0.0.1:${proxy.port} does not answer`);
  });
});
