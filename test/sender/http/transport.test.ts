/**
 * Guarantee: whatever a receiver does, an attempt ends within its total time with exactly one result, is named after
 * what happened, and leaves no connection behind. Nothing is inflated, followed or read without end.
 */
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { describe, expect, test } from 'vitest';
import { MISBEHAVIOURS, startTcpReceiver } from '../../support/receivers/misbehaving-receivers.ts';
import { post } from '../../support/receivers/posting.ts';
import { useTransports } from '../../support/receivers/transports.ts';

const TOTAL_MS = 500;
/** A hang is longer than this; a busy machine is not. */
const HANG_MS = 10_000;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const transports = useTransports({ totalTimeoutMs: TOTAL_MS, connectTimeoutMs: 300 });
const { transportOf, receiver } = transports;

const requestTo = (origin: string) => ({
  merchantId: 'm1',
  origin,
  path: '/hook?x=1',
  headers: ['Authorization', 'API-Key whsec_x', 'webhook-id', 'e1'],
  body: Buffer.from('{"a":1}'),
  mask: null,
});

describe('an attempt at a receiver that', () => {
  test.each(MISBEHAVIOURS)('$name ends with $code', { timeout: HANG_MS }, async ({ code, answer }) => {
    const transport = transportOf();
    const { origin } = await receiver(answer);
    const { exchange } = await post(transport, requestTo(origin));
    expect(exchange.kind === 'failed' ? exchange.failureCode : exchange.kind).toBe(code ?? 'acknowledged');
    if (exchange.kind !== 'interrupted' && exchange.response) {
      expect(exchange.response.body.length).toBeLessThanOrEqual(16 * 1024);
    }
    await expect.poll(() => transport.openConnections, { timeout: HANG_MS }).toBeLessThanOrEqual(1);
  });

  test('misbehaves leaves no connection behind, however often', { timeout: 30_000 }, async () => {
    const transport = transportOf({ limits: { connectionsPerOriginMax: 20 } });
    let turn = 0;
    const quick = MISBEHAVIOURS.filter(({ code }) => code !== null && !/timeout|1xx/.test(code));
    const target = await receiver((socket) => quick[turn++ % quick.length]?.answer(socket, '/'));
    const results = await Promise.all(
      Array.from({ length: 300 }, () => post(transport, requestTo(target.origin))),
    );
    expect(results.every(({ exchange }) => exchange.kind === 'failed')).toBe(true);
    await transport.close();
    await expect.poll(() => target.open, { timeout: HANG_MS }).toBe(0);
    expect(transport.openConnections).toBe(0);
  });
});

describe('the transport keeps of a response', () => {
  test('its status, lower-case headers, the first 16 KiB as they came, and Retry-After', async () => {
    const body = 'x'.repeat(20_000);
    const head =
      'HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nX-A: b\r\nContent-Encoding: gzip\r\nContent-Length: 20000';
    const { origin } = await receiver((socket) => void socket.write(`${head}\r\n\r\n${body}`));
    const posted = await post(transportOf(), requestTo(origin));
    expect(posted.retryAfterSeconds).toBe(7);
    expect(posted.exchange).toMatchObject({ kind: 'failed', failureCode: 'http_4xx', detail: 'HTTP 429' });
    const response = posted.exchange.kind === 'failed' ? posted.exchange.response : null;
    expect(response).toMatchObject({ status: 429, bodyTruncated: true });
    expect(response?.headers).toContainEqual(['x-a', 'b']);
    expect(Buffer.from(response?.body ?? []).toString()).toBe(body.slice(0, 16 * 1024));
  });
});

test('the transport stops reading an endless body after 64 KiB', { timeout: HANG_MS }, async () => {
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  const target = await receiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    const more = () => !socket.destroyed && socket.write(chunk, more);
    more();
  });
  // A time-out beyond the test's own: only the limit can end this.
  const transport = transportOf({ totalTimeoutMs: 10 * HANG_MS });
  const { exchange } = await post(transport, requestTo(target.origin));
  expect(exchange).toMatchObject({ kind: 'acknowledged', response: { status: 200, bodyTruncated: true } });
  await expect.poll(() => target.open, { timeout: HANG_MS }).toBe(0);
});

describe('the transport’s connections', () => {
  test('are reused, and requests are sent as given', async () => {
    const target = await receiver((socket) => void socket.write(OK));
    const transport = transportOf();
    for (let i = 0; i < 5; i += 1) await post(transport, requestTo(target.origin));
    expect(target.accepted).toBe(1);
    expect(target.received).toContain('POST /hook?x=1 HTTP/1.1\r\n');
    expect(target.received).toContain('Authorization: API-Key whsec_x\r\n');
    expect(target.received).toContain('\r\n\r\n{"a":1}');
  });

  test.each([
    ['Connection: close', 3],
    ['Keep-Alive: timeout=1', 3],
    ['Keep-Alive: timeout=60', 1],
  ])('are reused as long as the receiver keeps them: %s', async (header, connections) => {
    const target = await receiver(
      (s) => void s.write(`HTTP/1.1 200 OK\r\n${header}\r\nContent-Length: 0\r\n\r\n`),
    );
    const transport = transportOf();
    for (let i = 0; i < 3; i += 1) await post(transport, requestTo(target.origin));
    expect(target.accepted).toBe(connections);
  });

  test('are not reused after the receiver sent something unasked', async () => {
    const target = await receiver((socket) => {
      socket.write(OK);
      setTimeout(() => socket.write(OK.replace('200', '500')), 20);
    });
    const transport = transportOf();
    const first = await post(transport, requestTo(target.origin));
    await expect.poll(() => transport.openConnections).toBe(0);
    const second = await post(transport, requestTo(target.origin));
    expect([first, second].map(({ exchange }) => exchange.kind)).toEqual(['acknowledged', 'acknowledged']);
    expect(target.accepted).toBe(2);
  });

  test('fail with a protocol error when the receiver sends first', async () => {
    const greeting = tls.createServer(
      { key: transports.certificate.keyPem, cert: transports.certificate.certPem },
      (socket) => socket.on('error', () => {}).write('220 mail.example ESMTP\r\n'),
    );
    await new Promise<void>((resolve) => greeting.listen(0, '127.0.0.1', resolve));
    const { port } = greeting.address() as AddressInfo;
    const { exchange } = await post(transportOf(), requestTo(`https://127.0.0.1:${port}`));
    greeting.close();
    expect(exchange).toMatchObject({ kind: 'failed', failureCode: 'protocol_error' });
  });

  test('never carry a header that is more than one line', async () => {
    const target = await receiver((socket) => void socket.write(OK));
    const headers = ['webhook-id', 'e1\r\nX-Smuggled: yes'];
    const { exchange } = await post(transportOf(), { ...requestTo(target.origin), headers });
    expect(exchange).toMatchObject({
      failureCode: 'protocol_error',
      detail: expect.stringContaining('webhook-id'),
    });
    expect(target.received).toBe('');
  });

  test('cost no attempt when the receiver closes them while idle', async () => {
    const target = await receiver((socket) => void socket.end(OK));
    const transport = transportOf();
    for (let i = 0; i < 5; i += 1) {
      expect((await post(transport, requestTo(target.origin))).exchange.kind).toBe('acknowledged');
    }
    expect(target.accepted).toBeGreaterThan(1);
  });

  test('have failure codes for a refusal and for silence after accepting', async () => {
    const silent = await startTcpReceiver(() => {});
    const closed = await startTcpReceiver(() => {});
    const rude = await startTcpReceiver((socket) => socket.destroy());
    const plain = await startTcpReceiver((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    transports.closeAfter(silent, rude, plain);
    await closed.close();
    const transport = transportOf();
    const codeOf = async (origin: string) => {
      const { exchange } = await post(transport, requestTo(origin));
      return exchange.kind === 'failed' ? exchange.failureCode : exchange.kind;
    };
    expect(await codeOf(silent.origin)).toBe('connect_timeout');
    expect(await codeOf(closed.origin)).toBe('connect_refused');
    expect(await codeOf(rude.origin)).toBe('connection_reset');
    expect(await codeOf(plain.origin)).toBe('tls_error');
    const { exchange } = await post(transport, requestTo(plain.origin));
    expect(exchange).toMatchObject({
      detail: expect.stringContaining('another protocol, such as plain HTTP'),
    });
  });
});

describe('a shutdown of the transport', () => {
  test('interrupts requests without a response, and lets a response count', async () => {
    const silent = await receiver(() => {});
    const answering = await receiver((s) => void s.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'));
    const transport = transportOf({ totalTimeoutMs: HANG_MS });
    const pending = post(transport, requestTo(silent.origin));
    const acknowledged = post(transport, requestTo(answering.origin));
    await expect.poll(() => silent.received).toContain('{"a":1}');
    // The head of the answer must have come: a second request on the same loop turn shows that it has.
    await expect.poll(() => answering.received).toContain('{"a":1}');
    await post(transport, requestTo((await receiver((s) => void s.write(OK))).origin));
    transport.interrupt();
    expect((await pending).exchange).toEqual({ kind: 'interrupted' });
    expect((await acknowledged).exchange.kind).toBe('acknowledged');
    await transport.close();
    await transport.close();
    expect((await post(transport, requestTo(silent.origin))).exchange).toEqual({ kind: 'interrupted' });
  });
});
