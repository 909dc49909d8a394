/**
 * Guarantee: one response costs the sender's event loop a bounded number of steps. Its status line decides, whatever
 * follows it; bytes that are not plain HTTP/1.1 end the connection, so that none is taken for another request's answer.
 */
import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import type { HttpTransport } from '../../../services/sender/http/transport.ts';
import type { Answer, RawReceiver } from '../../support/receivers/misbehaving-receivers.ts';
import { post } from '../../support/receivers/posting.ts';
import { useTransports } from '../../support/receivers/transports.ts';

const SLOW_MS = 60_000;
const { transportOf, receiver } = useTransports({ totalTimeoutMs: 30_000, connectTimeoutMs: 3000 });

async function postTo(transport: HttpTransport, { origin }: RawReceiver) {
  const { exchange } = await post(transport, {
    merchantId: 'm1',
    origin,
    path: '/',
    headers: [],
    body: Buffer.from('{}'),
    mask: null,
  });
  if (exchange.kind === 'interrupted') throw new Error('interrupted');
  return {
    code: exchange.kind === 'failed' ? exchange.failureCode : exchange.kind,
    detail: exchange.kind === 'failed' ? exchange.detail : '',
    response: exchange.response,
  };
}

/** Writes one TLS record per byte. */
async function byteByByte(socket: TLSSocket, text: string): Promise<void> {
  for (const byte of Buffer.from(text, 'latin1')) {
    if (socket.destroyed) return;
    await new Promise((resolve) => socket.write(Buffer.of(byte), resolve));
  }
}

const PADDING = `X-Padding: ${'x'.repeat(15_000)}\r\n`;

describe('a response in one-byte records', () => {
  test.each([
    ['interim heads of 16 KiB', `HTTP/1.1 103 Early Hints\r\n${PADDING}\r\n`.repeat(16)],
    ['an endless reason phrase', `HTTP/1.1 200 ${'O'.repeat(40_000)}`],
  ])('that is %s ends after a bounded number of pieces', { timeout: SLOW_MS }, async (_, text) => {
    const target = await receiver((socket) => void byteByByte(socket, text));
    const { code, detail } = await postTo(transportOf(), target);
    expect([code, detail]).toEqual(['protocol_error', 'the response head came in more than 1024 pieces']);
  });

  test('with a head of 16 KiB is not read to its end, and its status counts', {
    timeout: SLOW_MS,
  }, async () => {
    const text = `HTTP/1.1 200 OK\r\n${PADDING}Content-Length: 0\r\n\r\n`;
    const target = await receiver((socket) => void byteByByte(socket, text));
    expect((await postTo(transportOf(), target)).code).toBe('acknowledged');
    await expect.poll(() => target.open).toBe(0);
  });

  test('with a small head is acknowledged all the same', async () => {
    const target = await receiver(
      (socket) => void byteByByte(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    );
    const { code, response } = await postTo(transportOf(), target);
    expect([code, Buffer.from(response?.body ?? []).toString()]).toEqual(['acknowledged', 'ok']);
  });

  test('with a body of 16 KiB is not read to its end, and its status counts', {
    timeout: SLOW_MS,
  }, async () => {
    const target = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 16000\r\n\r\n');
      void byteByByte(socket, 'x'.repeat(16_000));
    });
    const { code, response } = await postTo(transportOf(), target);
    expect(code).toBe('acknowledged');
    expect(response?.body.length).toBeLessThan(4096);
    await expect.poll(() => target.open).toBe(0);
  });
});

describe('an oversized response', () => {
  test.each([
    ['an endless reason phrase', `HTTP/1.1 200 ${'O'.repeat(300_000)}`],
    ['interim heads', `HTTP/1.1 103 Early Hints\r\n${PADDING}\r\n`.repeat(14)],
  ])('with %s ends the attempt', { timeout: SLOW_MS }, async (_, text) => {
    const target = await receiver((socket) => void socket.write(text));
    expect(await postTo(transportOf(), target)).toMatchObject({ code: 'headers_too_large' });
    await expect.poll(() => target.open).toBe(0);
  });

  test.each([
    ['one-byte chunks', '1\r\nx\r\n'.repeat(60_000)],
    ['chunk extensions', `1;a=${'x'.repeat(4000)}\r\nx\r\n`.repeat(200)],
    ['trailers', `0\r\n${PADDING}${PADDING}`],
  ])(
    'with a body of %s ends the connection, and its status counts',
    { timeout: SLOW_MS },
    async (_, body) => {
      const target = await receiver(
        (socket) => void socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`),
      );
      expect(await postTo(transportOf(), target)).toMatchObject({ code: 'acknowledged' });
      await expect.poll(() => target.open).toBe(0);
    },
  );
});

describe('a response that HTTP parsers read differently', () => {
  const length = (line: string) => `HTTP/1.1 200 OK\r\n${line}\r\n\r\nhello`;
  test.each([
    ['a length after a bare line feed', length('Content-Length:\n5')],
    ['a length after a vertical tab', length('Content-Length: \x0b5')],
    ['a length before a no-break space', length('Content-Length: 5\xa0')],
    ['a length before a bare carriage return', length('Content-Length: 5\r')],
    ['a length hidden behind a bare line feed', length('X:\nContent-Length: 5')],
    ['two lengths', length('Content-Length: 5\r\nContent-Length: 6')],
    ['a coding after a form feed', length('Transfer-Encoding:\x0cchunked')],
    ['a length and chunks', length('Content-Length: 5\r\nTransfer-Encoding: chunked')],
    ['a space before the colon', length('Content-Length : 5')],
    ['a folded header', length('X-A: b\r\n c\r\nContent-Length: 5')],
    ['blanks that no header limit counts', `HTTP/1.1 200 OK\r\nX-A:5${' '.repeat(300_000)}`],
  ])('with %s is decided by its status and ends the connection, in one piece or two', async (_, text) => {
    const whole = await receiver((socket) => void socket.write(text, 'latin1'));
    const split = await receiver((socket) => {
      const at = text.indexOf('5');
      socket.write(text.slice(0, at), 'latin1');
      setTimeout(() => socket.write(text.slice(at), 'latin1'), 5);
    });
    const transport = transportOf();
    for (const target of [whole, split]) {
      for (let i = 0; i < 2; i += 1) expect((await postTo(transport, target)).code).toBe('acknowledged');
      expect(target.accepted).toBe(2);
      await expect.poll(() => target.open).toBe(0);
    }
  });

  test.each([
    ['close, then keep-alive', 'Connection: close\r\nConnection: keep-alive'],
    ['keep-alive, then close', 'Connection: keep-alive\r\nConnection: close'],
    ['both in one line', 'Connection: keep-alive, close'],
  ])('with %s ends the connection', async (_, lines) => {
    const target = await receiver(
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${lines}\r\nContent-Length: 2\r\n\r\nok`),
    );
    const transport = transportOf();
    for (let i = 0; i < 3; i += 1) expect((await postTo(transport, target)).code).toBe('acknowledged');
    expect(target.accepted).toBe(3);
  });

  test('with trailers that are not header lines ends the connection, and its status counts', async () => {
    const target = await receiver(
      (socket) =>
        void socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno header line\r\n\r\n'),
    );
    const transport = transportOf();
    for (let i = 0; i < 2; i += 1) expect((await postTo(transport, target)).code).toBe('acknowledged');
    expect(target.accepted).toBe(2);
  });
});

describe('an answer that comes before the request is sent', () => {
  const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

  test('is never credited on a new connection', async () => {
    const versions = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
    const target = await receiver(() => {}, { ...versions, greeting: OK });
    expect((await postTo(transportOf(), target)).code).toBe('protocol_error');
    expect(target.received).toBe('');
  });

  test('on a used connection gets the request a fresh one', async () => {
    let requests = 0;
    let surplus = () => {};
    const answer: Answer = (socket) => {
      requests += 1;
      socket.write(requests === 1 ? OK : 'HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n');
      surplus = () => socket.write(OK);
    };
    // Otherwise the kernel holds the surplus answer back until the next request acknowledges the first one.
    const target = await receiver(answer, { noDelay: true });
    const transport = transportOf();
    expect((await postTo(transport, target)).code).toBe('acknowledged');
    await systemClock().sleep(20);
    surplus();
    expect((await postTo(transport, target)).code).toBe('http_5xx');
    expect([requests, target.accepted]).toEqual([2, 2]);
  });
});

test('a receiver with TLS 1.2 cannot make the sender renegotiate', async () => {
  let renegotiated = 0;
  const target = await receiver(
    (socket) => {
      socket.renegotiate({}, (error) => {
        if (error) return;
        renegotiated += 1;
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    },
    { maxVersion: 'TLSv1.2' },
  );
  // Refused, the receiver may close the connection or say nothing more.
  await Promise.race([postTo(transportOf(), target), systemClock().sleep(2000)]);
  expect(renegotiated).toBe(0);
});
