/**
 * Guarantee: a receiver that cannot resume TLS sessions, and resets, refuses, drops or closes a connection that offers
 * one, gets every webhook at the first attempt.
 */
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { type RawReceiver, startTcpReceiver } from '../../support/receivers/misbehaving-receivers.ts';
import { post } from '../../support/receivers/posting.ts';
import { useTransports } from '../../support/receivers/transports.ts';

const TEST_MS = 60_000;
const OK_AND_CLOSE = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';
const transports = useTransports({ totalTimeoutMs: 10_000, connectTimeoutMs: 3000 });

/** Extensions of a ClientHello that offer a session: a ticket of TLS 1.2, unless it is empty, and a key of 1.3. */
const SESSION_TICKET = 35;
const PRE_SHARED_KEY = 41;

/** Returns whether a ClientHello offers a session (RFC 8446, section 4.1.2). */
function offersSession(hello: Buffer): boolean {
  let at = 5 + 4 + 2 + 32;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  const end = at + 2 + hello.readUInt16BE(at);
  for (at += 2; at + 4 <= end; ) {
    const [type, length] = [hello.readUInt16BE(at), hello.readUInt16BE(at + 2)];
    if (type === PRE_SHARED_KEY || (type === SESSION_TICKET && length > 0)) return true;
    at += 4 + length;
  }
  return false;
}

/** A line to a receiver that does not pass on a connection that offers a session. */
async function lineTo(receiver: RawReceiver, refuse: (socket: Socket) => void) {
  let refused = 0;
  const line = await startTcpReceiver((socket) => {
    socket.once('data', (hello: Buffer) => {
      if (offersSession(hello)) {
        refused += 1;
        refuse(socket);
        return;
      }
      const upstream = connect(receiver.port, '127.0.0.1').on('error', () => {});
      upstream.write(hello);
      socket.pipe(upstream).pipe(socket);
    });
  });
  transports.closeAfter(line);
  return { origin: line.origin, refused: () => refused };
}

async function postsTo(origin: string, count: number): Promise<string[]> {
  const transport = transports.transportOf();
  const codes: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const { exchange } = await post(transport, {
      ...{ merchantId: 'm1', origin, path: '/', headers: [], mask: null },
      body: Buffer.from('{}'),
    });
    codes.push(exchange.kind === 'failed' ? `${exchange.failureCode}: ${exchange.detail}` : exchange.kind);
  }
  return codes;
}

const answer = (socket: TLSSocket) => void socket.end(OK_AND_CLOSE);
const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;
/** A fatal alert, handshake_failure. */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 40]);
const refusals: [string, (socket: Socket) => void][] = [
  ['resets', (socket) => void socket.resetAndDestroy()],
  ['closes', (socket) => void socket.end()],
  ['sends an alert to', (socket) => void socket.end(ALERT)],
  ['says nothing to', () => {}],
  ['says what is no TLS to', (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
];

describe.each(VERSIONS)('a receiver with %s', (version) => {
  const options = { minVersion: version, maxVersion: version };

  test.each(refusals)(
    'that %s a connection that offers a session gets every webhook at the first attempt, and is not offered others',
    { timeout: TEST_MS },
    async (_, refuse) => {
      const line = await lineTo(await transports.receiver(answer, options), refuse);
      expect(await postsTo(line.origin, 4)).toEqual(Array(4).fill('acknowledged'));
      expect(line.refused()).toBe(1);
    },
  );

  test.each<[string, (socket: TLSSocket) => void]>([
    ['closes a connection once it is resumed', (socket) => void socket.end()],
    ['resets a connection once it is resumed', (socket) => void socket.destroy()],
  ])('that %s gets every webhook at the first attempt', { timeout: TEST_MS }, async (_, end) => {
    const receiver = await transports.receiver((socket) => {
      if (socket.isSessionReused()) end(socket);
      else answer(socket);
    }, options);
    expect(await postsTo(receiver.origin, 4)).toEqual(Array(4).fill('acknowledged'));
    expect(receiver.accepted).toBe(5);
  });

  test.each<[string, (socket: TLSSocket) => void]>([
    ['closes every connection', (socket) => void socket.end()],
    ['breaks off every connection', (socket) => void socket.destroy()],
  ])(
    'that %s instead of an answer gets one request for each attempt',
    { timeout: TEST_MS },
    async (_, end) => {
      const resumed: boolean[] = [];
      // Late enough for the sessions that it offers to have arrived.
      const receiver = await transports.receiver((socket) => {
        resumed.push(socket.isSessionReused());
        setTimeout(end, 20, socket);
      }, options);
      const codes = await postsTo(receiver.origin, 5);
      expect(codes.map((code) => code.split(':')[0])).toEqual(Array(5).fill('connection_reset'));
      expect(resumed).toEqual(Array(5).fill(false));
    },
  );

  test('that resumes sessions is offered them', async () => {
    const resumed: boolean[] = [];
    const receiver = await transports.receiver((socket) => {
      resumed.push(socket.isSessionReused());
      answer(socket);
    }, options);
    await postsTo(receiver.origin, 3);
    expect(resumed).toEqual([false, true, true]);
  });
});
