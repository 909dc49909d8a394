/**
 * Guarantee: the final status line of a response decides the attempt, whatever follows it; informational responses before
 * it are skipped. RFC 9110, section 15; RFC 9112, section 4.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { Blame } from '../../../services/sender/blame/blame.ts';
import type { Answer, Pace } from '../../../services/sender/http/pace.ts';
import { post } from '../../support/receivers/posting.ts';
import { useTransports } from '../../support/receivers/transports.ts';

const { transportOf, receiver } = useTransports({ totalTimeoutMs: 30_000, connectTimeoutMs: 3000 });
/** Far below the time-out, with room for a busy machine. */
const SOON_MS = 12_000;
const TEST_MS = 60_000;

/** Posts to a receiver that answers with some text, and closes then or not. Resolves with the verdict. */
async function verdictOn(text: string, isClosed = false) {
  const target = await receiver(
    (socket) => void (isClosed ? socket.end(text) : socket.write(text, 'latin1')),
  );
  const request = { merchantId: 'm1', path: '/', headers: [], body: Buffer.from('{}'), mask: null };
  const { exchange } = await post(transportOf(), { ...request, origin: target.origin });
  const fault =
    exchange.kind === 'failed' ? exchange.detail : exchange.kind === 'acknowledged' && exchange.fault;
  return { code: exchange.kind === 'failed' ? exchange.failureCode : exchange.kind, fault, target };
}

/** Notes when its receiver has answered. */
class NotingPace implements Pace {
  readonly isSlow = false;
  readonly answers: Answer[] = [];
  readonly time = new Blame(systemClock()).timeOf(null);
  answered(answer: Answer): void {
    this.answers.push(answer);
  }
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('a fault after the status line', () => {
  test.each([
    [
      'of a 200: the same length twice',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
    ],
    [
      'of a 200: identity and a length',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok',
    ],
    ['of a 202: a line without a colon', 'HTTP/1.1 202 Accepted\r\nno header line\r\n\r\n'],
    ['of a 204: no reason, no name', 'HTTP/1.1 204\r\n: x\r\n\r\n'],
    ['of a 200: a name that is not ASCII', 'HTTP/1.1 200 OK\r\nX-\xfc: x\r\n\r\n'],
    [
      'of a 200: 40 cookies of 480 bytes',
      `HTTP/1.1 200 OK\r\n${`Set-Cookie: a=${'x'.repeat(480)}\r\n`.repeat(40)}\r\n`,
    ],
    ['of a 200: 600 header lines', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(600)}Content-Length: 0\r\n\r\n`],
    ['of a 200: a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['of a 299: an unknown coding', 'HTTP/1.1 299 Odd\r\nTransfer-Encoding: gzip, chunked, x\r\n\r\nok'],
  ])('does not change the acknowledgement %s', async (_, text) => {
    expect(await verdictOn(text)).toMatchObject({
      code: 'acknowledged',
      fault: expect.stringMatching(/^HTTP 2\d\d; \S.{10}/),
    });
  });

  test.each([
    ['of a 503', 'http_5xx', 'HTTP/1.1 503 Busy\r\nno header line\r\n\r\n'],
    ['of a 404', 'http_4xx', 'HTTP/1.1 404 No\r\nContent-Length: x\r\n\r\n'],
    ['of a 410', 'endpoint_gone', 'HTTP/1.1 410 Gone\r\n : x\r\n\r\n'],
    ['of a 302', 'http_3xx', `HTTP/1.1 302 Found\r\nLocation: ${'x'.repeat(40_000)}\r\n\r\n`],
  ])('does not change the failure %s', async (_, code, text) => {
    expect((await verdictOn(text)).code).toBe(code);
  });

  test.each([
    ['after it', 'HTTP/1.1 200 OK\r\n', 'acknowledged'],
    ['within the head', 'HTTP/1.1 200 OK\r\nX-', 'acknowledged'],
    ['within the head of a 500', 'HTTP/1.1 500 Oh\r\nX-A: b\r\n', 'http_5xx'],
    ['within it', 'HTTP/1.1 200 O', 'connection_reset'],
    ['within an interim response', 'HTTP/1.1 103 Early Hints\r\nLink: <', 'connection_reset'],
  ])('that is the end of the connection %s is no other verdict', async (_, text, code) => {
    expect((await verdictOn(text, true)).code).toBe(code);
  });

  test.each([
    ['Upgrade', 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'],
    ['no header', 'HTTP/1.1 101 Switching\r\n\r\n'],
  ])('that is a 101 with %s is told in words', async (_, text) => {
    expect(await verdictOn(`${text}${OK}`)).toMatchObject({
      code: 'http_1xx',
      fault: 'the response is a 101: nobody asked for another protocol',
    });
  });

  test.each([
    [
      'SSH-2.0-OpenSSH_9.2\r\n',
      /^Expected HTTP\/.*: the response does not begin like HTTP\/1\.1; register the port/,
    ],
    ['HTTP/1.1 20x OK\r\n\r\n', /^Invalid status code: the status line has no status of three digits; /],
    [
      'HTTP/1.1 200 OK\r\nX\u0001: b\r\n\r\n',
      /^HTTP 200; Invalid header token: a header of the response has/,
    ],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n',
      /: the body is not as long as Content-Length says; /,
    ],
    [
      'HTTP/1.1 308 Moved\r\nLocation: https://a:b@www.example.com/hook?user=1#x\r\nContent-Length: 0\r\n\r\n',
      /^HTTP 308; webhooks follow no redirect, register .*: https:\/\/www\.example\.com\/hook$/,
    ],
    ['HTTP/1.1 301 Moved\r\nLocation: /a\u001b[2J\r\nX\r\n\r\n', /^HTTP 301; [^[]*$/],
    ['HTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n', /^HTTP 304$/],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', /: a chunk of the body is malformed; /],
  ])('is told in words that help: %j', async (text, words) => {
    expect((await verdictOn(text)).fault).toMatch(words);
  });

  test('in the status line itself is a protocol error', async () => {
    for (const line of ['HTTP/1.1 2000 OK', 'HTTP/1.1 20x OK', 'HTTP/9.9 200 OK', 'HTTP/1.1 099 No'])
      expect((await verdictOn(`${line}\r\nContent-Length: 0\r\n\r\n`)).code).toBe('protocol_error');
  });
});

test.each([
  ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['100 with headers', 'HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\n'],
  [
    '102, 103 and 100',
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Go on\r\n\r\n',
  ],
  ['199', 'HTTP/1.1 199 Soon\r\n\r\n'],
])('an interim %s is skipped', async (_, interim) => {
  expect((await verdictOn(`${interim}${OK}`)).code).toBe('acknowledged');
  expect((await verdictOn(`${interim}${OK.replace('200 OK', '500 Oh')}`)).code).toBe('http_5xx');
});

describe('a response whose rest does not come', () => {
  test.each([
    ['a head', 'HTTP/1.1 200 OK\r\nX-A: b\r\n'],
    ['a body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'],
    ['a body of unknown length', 'HTTP/1.1 200 OK\r\n\r\nab'],
    ['a chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'],
  ])('with %s without an end is decided long before the time-out', { timeout: TEST_MS }, async (_, text) => {
    const verdict = await Promise.race([verdictOn(text), systemClock().sleep(SOON_MS)]);
    expect(verdict?.code).toBe('acknowledged');
    await expect.poll(() => verdict?.target.open).toBe(0);
  });
});

describe('while the rest of a response is read', () => {
  const request = { merchantId: 'm1', path: '/', headers: [], body: Buffer.from('{}'), mask: null };

  /** Posts to a receiver that sends a head and then a byte every so often, without an end. */
  async function trickling(head: string) {
    const pace = new NotingPace();
    const target = await receiver(async (socket) => {
      socket.write(head);
      while (!socket.destroyed) {
        await sleep(20);
        if (!socket.destroyed) socket.write('x');
      }
    });
    const posting = post(transportOf(), { ...request, origin: target.origin }, pace);
    await expect.poll(() => pace.answers.length).toBe(1);
    return { posting, pace };
  }

  test('the lanes know the answer', async () => {
    const { posting, pace } = await trickling('HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\n\r\n');
    expect(await Promise.race([posting, 'still read'])).toBe('still read');
    expect(pace.answers).toMatchObject([{ status: 429, retryAfterSeconds: 7 }]);
    const posted = await posting;
    expect(posted.receiverMs).toBe(pace.answers[0]?.receiverMs);
    expect(pace.answers).toHaveLength(1);
  });

  test('the attempt has ended, and the rest is read for a second', async () => {
    const { posting } = await trickling('HTTP/1.1 200 OK\r\n\r\n');
    const { endedAt, exchange } = await posting;
    expect(systemClock().now() - endedAt).toBeGreaterThanOrEqual(1000);
    expect(exchange).toMatchObject({
      kind: 'acknowledged',
      fault: 'HTTP 200; the response did not end in time',
      response: { body: expect.toSatisfy((body: Buffer) => /^x{5,}$/.test(body.toString())) },
    });
  });

  test('a whole response is told once, when it is over', async () => {
    const pace = new NotingPace();
    const target = await receiver((socket) => void socket.write(OK));
    const { exchange } = await post(transportOf(), { ...request, origin: target.origin }, pace);
    expect(exchange).toMatchObject({ kind: 'acknowledged', fault: null });
    expect(pace.answers).toEqual([]);
  });
});
