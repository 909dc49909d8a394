/**
 * Guarantee: no connection leads to an address that is not public, not one packet, whatever the URL or the DNS says;
 * an address that a sandbox exempts is reached. A listener on the refused address counts connections, and a test
 * shows that it would have counted one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NOTHING_EXEMPT, parseEgressAllow } from '../../../services/egress/egress.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { ENOUGH_DESCRIPTORS } from '../../../services/process/descriptors.ts';
import { AddressGuard } from '../../../services/sender/http/address-guard.ts';
import type { ConnectFailure } from '../../../services/sender/http/connect-failure.ts';
import { Connector, secureContext } from '../../../services/sender/http/connector.ts';
import { hostsResolver, type Resolve } from '../../../services/sender/http/names/addresses.ts';
import { TlsSessions } from '../../../services/sender/http/tls/tls-session.ts';
import { openTransport } from '../../../services/sender/http/transport.ts';
import {
  type RawReceiver,
  receiverCertificates,
  startRawReceiver,
} from '../../support/receivers/misbehaving-receivers.ts';
import { post } from '../../support/receivers/posting.ts';
import inputs from '../../support/ssrf-inputs.json' with { type: 'json' };

let certificates: Awaited<ReturnType<typeof receiverCertificates>>;
let receiver: RawReceiver;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  certificates = await receiverCertificates();
});
beforeEach(async () => {
  receiver = await startRawReceiver(
    certificates.certificate,
    (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  );
  opened.push(receiver);
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** Posts to `host` on the receiver's port, which is allowed; answers what came of it. */
async function postTo(host: string, options: { allow?: string; resolve?: Resolve; ports?: number[] } = {}) {
  const transport = openTransport({
    clock: systemClock(),
    totalTimeoutMs: 4000,
    connectTimeoutMs: 2000,
    egress: { ports: options.ports ?? [receiver.port], allow: parseEgressAllow(options.allow ?? '') },
    extraCa: certificates.ca,
    resolve: options.resolve ?? (() => Promise.reject(new Error('nothing is to be resolved'))),
  });
  opened.push(transport);
  const origin = `https://${host}:${receiver.port}`;
  const posted = await post(transport, {
    merchantId: 'm1',
    origin,
    path: '/',
    headers: [],
    body: Buffer.from('{}'),
    mask: null,
  });
  const { exchange } = posted;
  return {
    blockedBy: posted.blockedBy,
    code: exchange.kind === 'failed' ? exchange.failureCode : exchange.kind,
  };
}

const answers =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses;

test('the listener counts the connections that reach it', async () => {
  expect(await postTo('127.0.0.1', { allow: '127.0.0.1' })).toMatchObject({ code: 'acknowledged' });
  expect(await postTo('localhost', { allow: 'localhost' })).toMatchObject({ code: 'acknowledged' });
  expect(receiver.accepted).toBe(2);
});

describe('the address guard sends not one packet', () => {
  test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'])(
    'to the literal address %s',
    async (host) => {
      expect(await postTo(host)).toEqual({ code: 'blocked_address', blockedBy: 'address_literal' });
      expect(receiver.accepted).toBe(0);
    },
  );

  test.each([
    ['loopback', ['127.0.0.1']],
    ['a public and a private address', ['93.184.216.34', '127.0.0.1']],
    ['a public address and loopback in IPv6', ['93.184.216.34', '::1']],
    ['the metadata service', ['169.254.169.254']],
    ['an IPv4-mapped address', ['::ffff:127.0.0.1']],
    ['a NAT64 address', ['64:ff9b::a00:1']],
    ['a zone id', ['fe80::1%eth0']],
    ['what is no address', ['localhost']],
  ])('to a name that resolves to %s', async (_, addresses) => {
    const resolve = answers(...addresses);
    expect(await postTo('hooks.merchant-a.com', { resolve })).toEqual({
      code: 'blocked_address',
      blockedBy: 'address',
    });
    expect(receiver.accepted).toBe(0);
  });

  test('to a name with one non-public address, however far down the list', async () => {
    const many = Array.from({ length: 41 }, (_, i) => `93.184.216.${i + 1}`);
    expect((await guardOf(answers(...many)).addressesOf('many.merchant-a.com', 443)).first).toHaveLength(32);
    const hidden = guardOf(answers(...many, '127.0.0.1'));
    await expect(hidden.addressesOf('many.merchant-a.com', 443)).rejects.toMatchObject({
      failureCode: 'blocked_address',
    });
  });

  test('to a port that is not allowed', async () => {
    const result = await postTo('hooks.merchant-a.com', { resolve: answers('127.0.0.1'), ports: [443] });
    expect(result).toEqual({ code: 'blocked_address', blockedBy: 'port' });
  });

  test('to a name that resolves to a private address the second time', async () => {
    let asked = 0;
    const guard = guardOf(async () => (asked++ === 0 ? ['93.184.216.34'] : ['127.0.0.1']));
    expect((await guard.addressesOf('rebind.merchant-a.com', 443)).first).toEqual(['93.184.216.34']);
    await expect(guard.addressesOf('rebind.merchant-a.com', 443)).rejects.toMatchObject({
      failureCode: 'blocked_address',
    });
  });

  test('to an address that the socket has and the check did not see', async () => {
    // The guard is told what it would see if the kernel connected elsewhere: this is the last check, after the dial.
    const guard = guardOf(answers('127.0.0.1'));
    guard.addressesOf = async () => ({ first: ['127.0.0.1'], later: null });
    const connector = new Connector({
      clock: systemClock(),
      guard,
      secureContext: secureContext(certificates.ca),
      connectTimeoutMs: 2000,
      tunnels: null,
      descriptors: ENOUGH_DESCRIPTORS,
    });
    const target = { host: 'localhost', port: receiver.port, sessions: new TlsSessions() };
    await expect(connector.connect(target)).rejects.toMatchObject({
      failureCode: 'blocked_address',
      facts: { blockedBy: 'remote_address' },
    });
    expect(receiver.received).toBe('');
  });
});

describe('the list of hostile names', () => {
  const answer: Record<string, string[]> = {
    'rebind.attacker.tld': ['127.0.0.1'],
    'mixed.attacker.tld': ['1.1.1.1', '10.0.0.1'],
    'aaaa.attacker.tld': ['1.1.1.1', '::1'],
    'nat64.attacker.tld': ['64:ff9b::a00:1'],
    '169.254.169.254.nip.io': ['169.254.169.254'],
  };
  const atDial = inputs.filter((input) => input.expected === 'BLOCK-AT-DIAL');

  test('has names to be blocked at the connection', () => expect(atDial.length).toBeGreaterThanOrEqual(8));

  test.each(atDial)('has $url ($class), which the guard blocks', async ({ url }) => {
    const { hostname } = new URL(url);
    const guard = guardOf(answers(...(answer[hostname] ?? ['127.0.0.1'])));
    await expect(guard.addressesOf(hostname, 443)).rejects.toMatchObject({ failureCode: 'blocked_address' });
  });
});

describe('DNS resolution', () => {
  test('reports a name that cannot be resolved as a DNS error, and whether any server answered', async () => {
    const fail = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
    const failure = (resolve: Resolve) =>
      guardOf(resolve)
        .addressesOf('a.merchant-a.com', 443)
        .then(
          () => null,
          (error: ConnectFailure) => [error.failureCode, error.facts.sign],
        );
    expect(await failure(fail('ENOTFOUND'))).toEqual(['dns_error', 'no_such_name']);
    expect(await failure(fail('ESERVFAIL'))).toEqual(['dns_error', 'silent']);
    expect(await failure(fail('EREFUSED'))).toEqual(['dns_error', 'silent']);
    expect(await failure(fail('ETIMEOUT'))).toEqual(['dns_error', 'silent']);
    expect(await failure(async () => [])).toEqual(['dns_error', 'no_such_name']);
  });

  test('reports a name that is not resolved in time as a DNS error', async () => {
    const resolve = () => new Promise<string[]>(() => {});
    expect(await postTo('slow.merchant-a.com', { resolve })).toMatchObject({ code: 'dns_error' });
  });

  test('asks once for a name when many connections open together', async () => {
    let asked = 0;
    const guard = guardOf(async () => [`93.184.216.${++asked}`]);
    const all = await Promise.all(
      Array.from({ length: 9 }, () => guard.addressesOf('a.merchant-a.com', 443)),
    );
    expect(new Set(all.flatMap(({ first }) => first))).toEqual(new Set(['93.184.216.1']));
    expect((await guard.addressesOf('a.merchant-a.com', 443)).first).toEqual(['93.184.216.2']);
  });

  test('lets public addresses through, IPv4 first', async () => {
    const guard = guardOf(answers('2606:4700:4700::1111', '1.1.1.1'));
    expect((await guard.addressesOf('a.merchant-a.com', 443)).first).toEqual([
      '1.1.1.1',
      '2606:4700:4700::1111',
    ]);
  });
});

describe('a connection to a name with two addresses', () => {
  /** Connects to the addresses in turn, on the port of the receiver, which listens on 127.0.0.1. */
  async function connect(addresses: string[]) {
    const guard = guardOf(answers());
    guard.addressesOf = async () => ({ first: addresses, later: null });
    guard.permits = () => true;
    const connector = new Connector({
      clock: systemClock(),
      guard,
      secureContext: secureContext(certificates.ca),
      connectTimeoutMs: 2000,
      tunnels: null,
      descriptors: ENOUGH_DESCRIPTORS,
    });
    opened.push({ close: async () => connector.close() });
    const { socket } = await connector.connect({
      host: 'localhost',
      port: receiver.port,
      sessions: new TlsSessions(),
    });
    const { remoteAddress } = socket;
    socket.destroy();
    return remoteAddress;
  }

  test('uses the second address when the first is silent or refuses', async () => {
    const silent = await startSilentListener('127.0.0.2', receiver.port);
    opened.push(silent);
    expect(await connect(['127.0.0.2', '127.0.0.1'])).toBe('127.0.0.1');
    expect(await connect(['127.0.0.3', '127.0.0.1'])).toBe('127.0.0.1');
    await expect(connect(['127.0.0.2', '127.0.0.3'])).rejects.toMatchObject({
      failureCode: 'connect_timeout',
      facts: { sign: 'reached' },
    });
    await expect(connect(['127.0.0.2'])).rejects.toMatchObject({
      failureCode: 'connect_timeout',
      facts: { sign: 'silent' },
    });
  });

  test('uses the first address when it answers in time, and closes the connection to the second', async () => {
    expect(await connect(['127.0.0.1', '127.0.0.3'])).toBe('127.0.0.1');
    expect(receiver.accepted).toBe(1);
    await expect.poll(() => receiver.open).toBe(0);
  });
});

/** Takes no connection and refuses none: its process never accepts, and its backlog is full. */
async function startSilentListener(address: string, port: number): Promise<{ close(): Promise<void> }> {
  const listen = `require('node:net').createServer().listen({ host: '${address}', port: ${port}, backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'ready');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  })`;
  const child = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const fillers = Array.from({ length: 4 }, () =>
    createConnection({ host: address, port }).on('error', () => {}),
  );
  await systemClock().sleep(200);
  return {
    async close() {
      for (const filler of fillers) filler.destroy();
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function guardOf(resolve: Resolve): AddressGuard {
  return new AddressGuard({ ports: [443], allow: NOTHING_EXEMPT }, { resolve, resolveExempt: hostsResolver });
}
