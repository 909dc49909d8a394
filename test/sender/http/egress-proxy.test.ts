/**
 * Guarantee: with an egress proxy, every connection to a receiver goes through it, to an address that the sender
 * checked; the proxy sees TLS only, and its own faults cost no attempt.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { NOTHING_EXEMPT, parseEgressAllow } from '../../../services/egress/egress.ts';
import { parseEgressProxy } from '../../../services/egress/egress-proxy.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { Tunnels } from '../../../services/sender/http/egress-proxy.ts';
import { openTransport } from '../../../services/sender/http/transport.ts';
import {
  type Authority,
  createAuthority,
  issueCertificate,
} from '../../../simulator/receiver/certificate-authority.ts';
import { type RawReceiver, startRawReceiver } from '../../support/receivers/misbehaving-receivers.ts';
import { post } from '../../support/receivers/posting.ts';

const HOST = 'hooks.merchant.com';
const ADDRESS = '93.184.216.34';
const opened: { close(): Promise<void> }[] = [];
let authority: Authority;
beforeAll(async () => {
  authority = await createAuthority();
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

interface Proxy {
  readonly url: string;
  readonly asked: { readonly target: string; readonly authorization: string | undefined }[];
  /** All bytes that went through it towards the receiver. */
  readonly seen: Buffer[];
  /** The requests to the proxy itself: each the method, the target and Max-Forwards. */
  readonly questions: readonly string[];
}

type Decide = (request: IncomingMessage, client: Socket, receiver: () => Socket) => void;

/** Opens the tunnel with this answer, in these pieces. The receiver is silent until TLS begins. */
const opensWith = (pieces: Iterable<string>): Decide => {
  return async (_request, client, receiver) => {
    client.pipe(receiver()).pipe(client);
    for (const piece of pieces) {
      client.write(piece);
      await setTimeout(1);
    }
  };
};
const connects = opensWith(['HTTP/1.1 200 Connection established\r\n\r\n']);

type AnswerItself = (response: ServerResponse) => void;
const answered: AnswerItself = (response) => void response.end();
const refused: AnswerItself = (response) => void response.writeHead(501).end();
const closed: AnswerItself = (response) => void response.destroy();

/** A CONNECT proxy that leads every target to the one receiver. */
async function startProxy(
  receiver: RawReceiver,
  decide: Decide,
  answerItself: AnswerItself = () => {},
): Promise<Proxy> {
  const questions: string[] = [];
  const asked: { target: string; authorization: string | undefined }[] = [];
  const seen: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    questions.push(`${request.method} ${request.url} ${request.headers['max-forwards']}`);
    answerItself(response);
  });
  server.on('connection', (socket) => void sockets.add(socket));
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    client.on('error', () => {}).on('data', (bytes: Buffer) => seen.push(bytes));
    sockets.add(client);
    decide(request, client, () => {
      const upstream = connect(receiver.port, '127.0.0.1').on('error', () => {});
      sockets.add(upstream);
      return upstream;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  opened.push({ close });
  return { url: `http://user:p%40ss@127.0.0.1:${port}`, asked, seen, questions };
}

async function startReceiver(): Promise<RawReceiver> {
  const certificate = await issueCertificate(authority, { hosts: [HOST, '127.0.0.1'] });
  const receiver = await startRawReceiver(
    certificate,
    (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  );
  opened.push(receiver);
  return receiver;
}

async function postThrough(
  proxyUrl: string,
  options: { origin?: string; resolvesTo?: string; allow?: string } = {},
) {
  const transport = openTransport({
    clock: systemClock(),
    totalTimeoutMs: 2000,
    connectTimeoutMs: 1000,
    egress: { ports: [443], allow: options.allow ? parseEgressAllow(options.allow) : NOTHING_EXEMPT },
    extraCa: authority.certPem,
    resolve: async () => [options.resolvesTo ?? ADDRESS],
    tunnels: Tunnels.through(parseEgressProxy(proxyUrl), systemClock(), 1000),
  });
  opened.push(transport);
  return post(transport, {
    merchantId: 'm1',
    mask: null,
    origin: options.origin ?? `https://${HOST}`,
    path: '/hooks',
    headers: ['Authorization', 'API-Key whsec_canary'],
    body: Buffer.from('{"canary":true}'),
  });
}

test('the egress proxy is asked for the checked address, with credentials, and sees TLS only', async () => {
  const receiver = await startReceiver();
  const proxy = await startProxy(receiver, connects);
  expect((await postThrough(proxy.url)).exchange).toMatchObject({ kind: 'acknowledged' });
  const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
  expect(proxy.asked).toEqual([{ target: `${ADDRESS}:443`, authorization }]);
  expect(receiver.received).toContain('whsec_canary');
  expect(Buffer.concat(proxy.seen).length).toBeGreaterThan(0);
  expect(Buffer.concat(proxy.seen).toString('latin1')).not.toContain('canary');
});

test('the egress proxy gets credentials as they are, not as its URL has to spell them', async () => {
  const proxy = await startProxy(await startReceiver(), connects);
  const { exchange } = await postThrough(proxy.url.replace('user:p%40ss', 'us%40er:p%3Ass'));
  expect(exchange).toMatchObject({ kind: 'acknowledged' });
  const authorization = `Basic ${Buffer.from('us@er:p:ss').toString('base64')}`;
  expect(proxy.asked.map((each) => each.authorization)).toEqual([authorization]);
});

test('the egress proxy is asked for an IPv6 address in brackets', async () => {
  const proxy = await startProxy(await startReceiver(), connects);
  await postThrough(proxy.url, { resolvesTo: '2606:2800:220:1::1' });
  expect(proxy.asked.map(({ target }) => target)).toEqual(['[2606:2800:220:1::1]:443']);
});

test('the egress proxy is never asked for an address that is not public', async () => {
  const proxy = await startProxy(await startReceiver(), connects);
  const { exchange } = await postThrough(proxy.url, { resolvesTo: '10.0.0.1' });
  expect(exchange).toMatchObject({ kind: 'failed', failureCode: 'blocked_address' });
  expect(proxy.asked).toEqual([]);
});

test('an exempt address is connected to directly, past the egress proxy', async () => {
  const receiver = await startReceiver();
  const proxy = await startProxy(receiver, connects);
  const origin = `https://127.0.0.1:${receiver.port}`;
  const { exchange } = await postThrough(proxy.url, { origin, allow: '127.0.0.0/8' });
  expect(exchange).toMatchObject({ kind: 'acknowledged' });
  expect(proxy.asked).toEqual([]);
});

test('a certificate for another name is refused through the egress proxy too', async () => {
  const proxy = await startProxy(await startReceiver(), connects);
  const { exchange } = await postThrough(proxy.url, { origin: 'https://another.merchant.com' });
  expect(exchange).toMatchObject({ kind: 'failed', failureCode: 'tls_error' });
});

const answers = (answer: string): Decide => {
  return (_request, client) => void client.end(answer);
};

describe('the egress proxy', () => {
  test.each([
    ['502', 'connect_refused', null, 'silent'],
    ['503', 'connect_refused', null, 'silent'],
    ['504', 'connect_timeout', null, 'silent'],
    ['403', 'connect_refused', null, 'silent'],
    ['451', 'connect_refused', null, 'silent'],
    ...[
      '302',
      '400',
      '401',
      '404',
      '405',
      '407',
      '408',
      '413',
      '421',
      '429',
      '431',
      '500',
      '501',
      '505',
      '511',
    ].map((status) => [status, 'connect_refused', 'egress_proxy', 'unknown'] as const),
    ['503 Busy\r\nRetry-After: 5', 'connect_refused', 'egress_proxy', 'unknown'],
  ] as const)(
    'that answers %s is reported as %s with own fault %s, and shows no receiver',
    async (status, failureCode, ownFault, sign) => {
      const proxy = await startProxy(await startReceiver(), answers(`HTTP/1.1 ${status} No\r\n\r\n`));
      const posted = await postThrough(proxy.url);
      expect(posted.exchange).toMatchObject({ kind: 'failed', failureCode });
      expect(posted).toMatchObject({ ownFault, sign });
      expect(JSON.stringify(posted)).not.toContain('p@ss');
    },
  );

  test.each<[string, Iterable<string>]>([
    ['200 with a length', ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n']],
    ['200 with chunks', ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n']],
    ['200 byte by byte', 'HTTP/1.1 200 OK\r\nVia: 1.1 proxy\r\n\r\n'],
    ['200 in HTTP/1.0', ['HTTP/1.0 200 Connection established\r\n\r\n']],
    ['200 with a head of 12 KB', [`HTTP/1.1 200 OK\r\nX-Via: ${'x'.repeat(12 * 1024)}\r\n\r\n`]],
    ['200 without a reason', ['HTTP/1.1 200\r\n\r\n']],
    ['201', ['HTTP/1.1 201 Created\r\n\r\n']],
  ])('that answers %s has opened the tunnel', async (_what, pieces) => {
    const receiver = await startReceiver();
    const posted = await postThrough((await startProxy(receiver, opensWith(pieces))).url);
    expect(posted).toMatchObject({ exchange: { kind: 'acknowledged' }, ownFault: null });
    expect(receiver.received).toContain('{"canary":true}');
  });

  test.each([
    ['nothing intelligible', answers('what?\r\n\r\n')],
    ['more than an answer', answers('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n')],
    ['nothing at all, and closes', answers('')],
  ])('that answers %s is an own fault', async (_what, decide) => {
    const posted = await postThrough((await startProxy(await startReceiver(), decide)).url);
    expect([posted.exchange.kind, posted.ownFault]).toEqual(['failed', 'egress_proxy']);
  });

  test('that answers no CONNECT, but what it is asked itself, leaves the failure to the receiver', async () => {
    for (const answer of [answered, refused, closed]) {
      const proxy = await startProxy(await startReceiver(), () => {}, answer);
      const posted = await postThrough(proxy.url);
      expect(posted.exchange).toMatchObject({ kind: 'failed', failureCode: 'connect_timeout' });
      expect(posted).toMatchObject({ ownFault: null, sign: 'silent' });
      expect(proxy.questions).toEqual(['OPTIONS * 0']);
    }
  });

  test('that answers nothing is an own fault, which names its address', async () => {
    const proxy = await startProxy(await startReceiver(), () => {});
    const posted = await postThrough(proxy.url);
    expect(posted).toMatchObject({
      exchange: { kind: 'failed', detail: `the egress proxy at ${new URL(proxy.url).host} does not answer` },
      ownFault: 'egress_proxy',
    });
    expect(proxy.questions).toEqual(['OPTIONS * 0']);
  });

  test('that answers is not asked anything itself', async () => {
    const proxy = await startProxy(await startReceiver(), connects);
    await postThrough(proxy.url);
    await setTimeout(600);
    expect(proxy.questions).toEqual([]);
  });

  test('that is unreachable is an own fault', async () => {
    const posted = await postThrough('http://127.0.0.1:1');
    expect([posted.exchange.kind, posted.ownFault]).toEqual(['failed', 'egress_proxy']);
  });
});
