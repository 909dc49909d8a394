/**
 * Guarantee: a check of an endpoint takes the way of a webhook and sends none. Each step says what it has found, the one that
 * fails says what helps, and nothing that the address guard keeps away is connected to or told of.
 */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resultOf } from '../../../../services/domain/checks/endpoint-check.ts';
import { parseEgressAllow } from '../../../../services/egress/egress.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { EndpointChecker } from '../../../../services/sender/http/check/endpoint-checker.ts';
import { Tunnels } from '../../../../services/sender/http/egress-proxy.ts';
import type { Resolve } from '../../../../services/sender/http/names/addresses.ts';
import { issueCertificate } from '../../../../simulator/receiver/certificate-authority.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  type RawReceiver,
  receiverCertificates,
  startRawReceiver,
} from '../../../support/receivers/misbehaving-receivers.ts';

const clock = systemClock();
const DAY_MS = 86_400_000;
const LIMITS = { connectTimeoutMs: 2000, totalTimeoutMs: 20_000 };
let certificates: Awaited<ReturnType<typeof receiverCertificates>>;
let receiver: RawReceiver;
let silent: Server;
let answer = '';

beforeAll(async () => {
  certificates = await receiverCertificates();
  receiver = await startRawReceiver(certificates.certificate, (socket) => {
    if (answer !== '') socket.end(answer);
  });
  silent = createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(async () => {
  await receiver.close();
  silent.close();
});

interface Given {
  readonly allow?: string;
  readonly resolve?: Resolve;
  readonly signal?: AbortSignal;
  readonly totalTimeoutMs?: number;
}

function checkerOf({ allow = 'localhost', resolve, signal: _, ...limits }: Given = {}) {
  return new EndpointChecker({
    ...{ clock, ...LIMITS, ...limits, extraCa: certificates.ca },
    egress: { ports: [443], allow: parseEgressAllow(allow) },
    ...(resolve ? { resolve } : {}),
  });
}

/** Returns the steps of a check by their names. */
async function check(url: string, given: Given = {}) {
  const { signal } = given;
  const checker = checkerOf(given);
  const steps = await checker.check(url, signal ?? new AbortController().signal);
  expect(steps.map(({ step }) => step)).toEqual(['dns', 'tcp', 'tls', 'answer', 'redirect', 'latency']);
  const of = Object.fromEntries(steps.map((step) => [step.step, step]));
  return { steps, of, results: steps.map(({ result }) => result).join(' '), result: resultOf(steps) };
}

/** Returns the origin by the name that the policy exempts. */
const originOf = ({ port }: RawReceiver) => `https://localhost:${port}`;

/** Returns a port that nobody listens at. */
async function closedPort(): Promise<number> {
  const unused = createServer().listen(0, '127.0.0.1');
  await once(unused, 'listening');
  const { port } = unused.address() as AddressInfo;
  unused.close();
  await once(unused, 'close');
  return port;
}

const replies = (status: string, ...headers: readonly string[]) =>
  [`HTTP/1.1 ${status}`, 'content-length: 0', ...headers, '', ''].join('\r\n');

describe('a check of a server that answers', () => {
  test('says of each step what it found', async () => {
    answer = replies('200 OK');
    const { of, results } = await check(`${originOf(receiver)}/hook?tenant=7`);
    expect(results).toBe('ok ok ok ok ok ok');
    expect(of.dns?.facts.addresses).toContain('127.0.0.1');
    expect(of.tcp?.facts).toMatchObject({ address: '127.0.0.1' });
    expect(of.tls?.facts).toMatchObject({ tls_version: 'TLSv1.3', names: ['localhost', '127.0.0.1'] });
    expect(Number(of.tls?.facts.days_left)).toBeGreaterThan(14);
    expect(of.answer).toMatchObject({ facts: { status: 200 }, remedy: null });
    for (const { durationMs, says } of Object.values(of)) {
      expect(durationMs).toBeGreaterThanOrEqual(0);
      expect(says).toMatch(/\.$/);
    }
  });

  test('sends it nothing that looks like a webhook', async () => {
    answer = replies('204 No Content');
    const before = receiver.received.length;
    await check(`${originOf(receiver)}/hook?tenant=7`);
    const [line, ...headers] = receiver.received.slice(before).trim().split('\r\n');
    expect(line).toBe('HEAD /hook?tenant=7 HTTP/1.1');
    expect(headers.map((header) => header.split(':')[0]?.toLowerCase()).sort()).toEqual([
      'accept',
      'connection',
      'host',
      'user-agent',
    ]);
    expect(receiver.received.slice(before)).toContain('User-Agent: hookrail-check\r\n');
  });

  test.each([
    ['401 Unauthorized', 'ok'],
    ['405 Method Not Allowed', 'ok'],
    ['410 Gone', 'warning'],
    ['503 Service Unavailable', 'warning'],
  ])('takes a %s for what it says', async (status, result) => {
    answer = replies(status);
    const { of } = await check(`${originOf(receiver)}/`);
    expect(of.answer).toMatchObject({ result, facts: { status: Number(status.slice(0, 3)) } });
    expect(of.answer?.remedy === null).toBe(result === 'ok');
  });

  test('names where a redirect leads, without what may be private, and does not follow it', async () => {
    const accepted = receiver.accepted;
    answer = replies('308 Permanent Redirect', `location: ${originOf(receiver)}/moved?token=private`);
    const { of, result } = await check(`${originOf(receiver)}/`);
    expect(result).toBe('failed');
    expect(of.redirect).toMatchObject({
      result: 'failed',
      facts: { location: `${originOf(receiver)}/moved` },
    });
    expect(of.redirect?.remedy).toContain('Register the URL');
    expect(receiver.accepted).toBe(accepted + 1);
  });

  test.each([
    ['nothing', '', 'arrived in time'],
    ['what is no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', 'not HTTP/1.1'],
    ['headers without an end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n`, 'headers are too large'],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      '101',
    ],
  ])('fails at the answer when it sends %s', async (_what, sent, says) => {
    answer = sent;
    const { of, results } = await check(`${originOf(receiver)}/`, { totalTimeoutMs: 1500 });
    expect(results).toBe('ok ok ok failed not_tried not_tried');
    expect(of.answer?.says).toContain(says);
    expect(of.answer?.remedy).toMatch(/\w/);
  });
});

describe('a check of a server that is not reached', () => {
  test('says that nobody listens, or that nobody answers the handshake', async () => {
    const { port } = silent.address() as AddressInfo;
    const hung = await check(`https://localhost:${port}/`);
    expect(hung.results).toBe('ok ok failed not_tried not_tried not_tried');
    expect(hung.of.tls?.says).toBe('The TLS handshake did not end in time.');
    const refused = await check(`https://127.0.0.1:${await closedPort()}/`, { allow: '127.0.0.1' });
    expect(refused.results).toBe('ok failed not_tried not_tried not_tried not_tried');
    expect(refused.of.tcp?.says).toContain('ECONNREFUSED');
    expect(refused.of.tcp?.remedy).toMatch(/\w/);
  });

  test.each([
    ['has expired', { hosts: ['localhost'], validFrom: -9, validTo: -2 }, 'CERT_HAS_EXPIRED'],
    ['is for another name', { hosts: ['other.example'] }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('names a certificate that %s, and sends nothing', async (_what, of, code) => {
    const {
      hosts,
      validFrom = -1,
      validTo = 90,
    } = of as { hosts: string[]; validFrom?: number; validTo?: number };
    const certificate = await issueCertificate(certificates.authority, {
      hosts,
      notBefore: new Date(Date.now() + validFrom * DAY_MS),
      notAfter: new Date(Date.now() + validTo * DAY_MS),
    });
    const other = await startRawReceiver(certificate, (socket) => socket.end(replies('200 OK')));
    const { of: steps, results } = await check(`${originOf(other)}/`);
    expect(results).toBe('ok ok failed not_tried not_tried not_tried');
    expect(steps.tls?.says).toContain(code);
    expect(steps.tls?.remedy).toMatch(/\w/);
    expect(other.received).toBe('');
    await other.close();
  });

  test('names a name that has no address', async () => {
    const { of, results } = await check('https://hooks.merchant.com/', { resolve: async () => [] });
    expect(results).toBe('failed not_tried not_tried not_tried not_tried not_tried');
    expect(of.dns).toMatchObject({ says: 'hooks.merchant.com has no address.', facts: {} });
  });
});

describe('a check of what must not be reached', () => {
  test.each([['127.0.0.1'], ['10.1.2.3'], ['169.254.169.254'], ['::1'], ['::ffff:192.168.1.1'], ['fd00::7']])(
    'connects to no %s behind a name, and does not tell the address',
    async (address) => {
      const accepted = receiver.accepted;
      for (const addresses of [[address], ['93.184.216.34', address]]) {
        const { steps, results } = await check('https://hooks.merchant.com/', {
          resolve: async () => addresses,
        });
        expect(results).toBe('failed not_tried not_tried not_tried not_tried not_tried');
        expect(JSON.stringify(steps)).not.toContain(address);
        expect(JSON.stringify(steps)).not.toContain('93.184.216.34');
      }
      expect(receiver.accepted).toBe(accepted);
    },
  );

  test('connects to no address of a literal and no other port than the allowed ones', async () => {
    for (const url of [`https://127.0.0.1:${receiver.port}/`, 'https://hooks.merchant.com:22/']) {
      const { of, result } = await check(url, { allow: '', resolve: async () => ['93.184.216.34'] });
      expect([url, result, of.dns?.result]).toEqual([url, 'failed', 'failed']);
    }
  });
});

test('a fault of our own way out is not the endpoint’s, and tells nothing of the inside', async () => {
  const proxy = { host: '127.0.0.1', port: await closedPort(), authorization: null };
  const checker = new EndpointChecker({
    ...{ clock, ...LIMITS, extraCa: null, egress: { ports: [443], allow: parseEgressAllow('') } },
    tunnels: Tunnels.through(proxy, clock, LIMITS.connectTimeoutMs),
    resolve: async () => ['93.184.216.34'],
  });
  const steps = await checker.check('https://hooks.merchant.com/', new AbortController().signal);
  expect(steps.map(({ result }) => result)).toEqual(['ok', ...Array.from({ length: 5 }, () => 'not_tried')]);
  expect(JSON.stringify(steps)).not.toContain('127.0.0.1');
  expect(JSON.stringify(steps)).not.toContain(`${proxy.port}`);
  expect(steps[1]?.says).toContain('proxy');
});

test('a check that is interrupted ends at once, and says nothing against the endpoint', async () => {
  answer = '';
  const stop = new AbortController();
  const checking = check(`${originOf(receiver)}/`, { signal: stop.signal });
  stop.abort();
  expect((await checking).result).toBe('not_tried');
});

describe('the end of a certificate', () => {
  const endOf = (url: string, given: Given = {}) =>
    checkerOf(given).certificateEnd(url, given.signal ?? new AbortController().signal);

  test('is read on a connection that sends nothing, which is closed', async () => {
    const before = receiver.received.length;
    const until = new Date(new X509Certificate(certificates.certificate.certPem).validTo).getTime();
    expect(await endOf(`${originOf(receiver)}/hook`)).toBe(until);
    await eventually('the connection is closed', () => receiver.open === 0);
    expect(receiver.received.slice(before)).toBe('');
  });

  test('is unknown where no certificate is verified: a closed port, a private address, an interrupted look', async () => {
    const url = `${originOf(receiver)}/hook`;
    expect(await endOf(`https://localhost:${await closedPort()}/`)).toBeNull();
    expect(await endOf(url, { allow: '' })).toBeNull();
    expect(await endOf(url, { signal: AbortSignal.abort() })).toBeNull();
  });
});
