/**
 * Guarantee: a response is read as RFC 9112 says, however its bytes are cut, and what could be read in two ways is refused.
 * The oracle is undici, whose parser is Node's own.
 */
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { Client } from 'undici';
import { describe, expect, test } from 'vitest';
import { ResponseFault, ResponseReader } from '../../services/sender/response-reader.ts';

const LIMITS = { headBytesMax: 1024, headerLinesMax: 20 };

interface Told {
  readonly interim: readonly number[];
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** Null: it is not whole. */
  readonly isReusable: boolean | null;
}

/** What the reader tells of these pieces, or the code of its fault. */
function read(pieces: readonly (string | Buffer)[], isClosed = false): Told | string {
  const reader = new ResponseReader(LIMITS);
  const interim: number[] = [];
  const told: { status: number; headers: [string, string][]; body: string } = {
    status: 0,
    headers: [],
    body: '',
  };
  reader.expect();
  let isWhole = false;
  try {
    for (const piece of pieces) {
      const answer = reader.read(Buffer.from(piece as string, 'latin1'), {
        onInterim: (status) => void interim.push(status),
        onHead(status, headers) {
          Object.assign(told, { status, headers });
        },
        onBody(bytes) {
          told.body += bytes.toString('latin1');
        },
      });
      isWhole = answer === 'whole';
    }
    if (isClosed && !isWhole) isWhole = reader.endsHere();
  } catch (error) {
    if (error instanceof ResponseFault) return error.failureCode;
    throw error;
  }
  return { interim, ...told, isReusable: isWhole ? reader.isReusable : null };
}

const ok = (rest: string) => `HTTP/1.1 200 OK\r\n${rest}`;

describe('where a response ends (RFC 9112, section 6.3)', () => {
  test.each([
    ['a length', ok('Content-Length: 2\r\n\r\nok'), 'ok', true],
    ['no body', ok('Content-Length: 0\r\n\r\n'), '', true],
    ['204 has none', 'HTTP/1.1 204 No Content\r\n\r\n', '', true],
    ['whatever it says', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n', '', false],
    ['304 has none', 'HTTP/1.1 304 Not Modified\r\n\r\n', '', true],
    ['chunks', ok('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;a="b"\r\nde\r\n0\r\n\r\n'), 'abcde', true],
    ['trailers', ok('Transfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\nZ: 1\r\n\r\n'), 'a', true],
    ['no reason', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', '', true],
    ['not even its space', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', '', true],
    ['close', ok('Connection: x, Close\r\nContent-Length: 0\r\n\r\n'), '', false],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na', 'a', false],
    [
      'HTTP/1.0 that stays',
      'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na',
      'a',
      true,
    ],
    [
      'HTTP/1.0 with chunks',
      'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
      'a',
      false,
    ],
    ['more than it said', ok('Content-Length: 1\r\n\r\nabc'), 'a', false],
    ['too little', ok('Content-Length: 5\r\n\r\nabc'), 'abc', null],
    ['chunks without end', ok('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'), 'abc', null],
  ])('%s', (_, text, body, isReusable) => {
    expect(read([text])).toMatchObject({ body, isReusable });
  });

  test.each([
    ['no length', ok('\r\nabc')],
    ['a coding that is not chunked', ok('Transfer-Encoding: gzip\r\n\r\nabc')],
  ])('%s: when the connection is closed', (_, text) => {
    expect(read([text])).toMatchObject({ body: 'abc', isReusable: null });
    expect(read([text], true)).toMatchObject({ body: 'abc', isReusable: false });
  });

  test('interim responses come before it', () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n';
    expect(read([`HTTP/1.1 100 Continue\r\n\r\n${early}${ok('Content-Length: 0\r\n\r\n')}`])).toMatchObject({
      interim: [100, 103],
      status: 200,
      isReusable: true,
    });
  });
});

describe('what is refused', () => {
  /** At once, and byte by byte. */
  const readBothWays = (text: string) => [read([text]), read([...text])];

  test.each([
    ['two lengths', ok('Content-Length: 2\r\nContent-Length: 2\r\n\r\nok')],
    ['a list of lengths', ok('Content-Length: 2, 2\r\n\r\nok')],
    ['a length that is no number', ok('Content-Length: +2\r\n\r\nok')],
    ['a length beside chunks', ok('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n')],
    ['chunks twice', ok('Transfer-Encoding: chunked, chunked\r\n\r\n')],
    ['a chunk size that is no number', ok('Transfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n')],
    ['a chunk longer than its size', ok('Transfer-Encoding: chunked\r\n\r\n2\r\nokk\r\n')],
    ['a chunk line with LF alone', ok('Transfer-Encoding: chunked\r\n\r\n2\nok\r\n')],
    ['LF alone', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
    ['LF alone after a header', ok('A: b\nContent-Length: 0\r\n\r\n')],
    ['CR alone', ok('A: b\rContent-Length: 0\r\n\r\n')],
    ['a folded header', ok('A: b\r\n c\r\nContent-Length: 0\r\n\r\n')],
    ['a space before the colon', ok('Content-Length : 0\r\n\r\n')],
    ['a header without a name', ok(': 0\r\n\r\n')],
    ['a header without a colon', ok('Content-Length\r\n\r\n')],
    ['NUL', ok('A: \0\r\nContent-Length: 0\r\n\r\n')],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status beyond 599', 'HTTP/1.1 600 Huh\r\n\r\n'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['its first letter', 'h'],
  ])('%s: protocol_error', (_, text) => {
    expect(readBothWays(text)).toEqual(['protocol_error', 'protocol_error']);
  });

  test.each([
    ['a head without end', ok(`X: ${'x'.repeat(2000)}`)],
    ['a head too long', ok(`X: ${'x'.repeat(2000)}\r\n\r\n`)],
    ['too many headers', ok(`${'a:b\r\n'.repeat(21)}\r\n`)],
    ['trailers without end', ok(`Transfer-Encoding: chunked\r\n\r\n0\r\n${'a:b\r\n'.repeat(1000)}`)],
    ['a chunk line without end', ok(`Transfer-Encoding: chunked\r\n\r\n${'0'.repeat(2000)}`)],
  ])('%s: headers_too_large', (_, text) => {
    expect(readBothWays(text)).toEqual(['headers_too_large', 'headers_too_large']);
  });
});

describe('any response', () => {
  const line = fc.constantFrom(
    ...['Content-Length: 3', 'Content-Length: 0', 'content-length:3 ', 'Transfer-Encoding: chunked'],
    ...[
      'Connection: close',
      'Connection: keep-alive',
      'A: b',
      'B:',
      'Keep-Alive: timeout=5',
      'X : y',
      ' folded',
      'C: \t d',
    ],
  );
  const body = fc.constantFrom(
    '',
    'abc',
    'abcd',
    '3\r\nabc\r\n0\r\n\r\n',
    '3\r\nabc\r\n0\r\nT: 1\r\n\r\n',
    '4\r\nabc\r\n',
  );
  const first = fc.constantFrom(
    'HTTP/1.1 200 OK',
    'HTTP/1.1 204 None',
    'HTTP/1.0 500 Oh',
    'HTTP/1.1 404',
    'HTTP/1.1 200OK',
  );
  const end = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n');
  const response = fc
    .record({ first, lines: fc.array(line, { maxLength: 4 }), end, body })
    .map(({ first, lines, end, body }) => `${[first, ...lines].join(end)}${end}${end}${body}`);

  test('is told the same however it is cut', () => {
    fc.assert(
      fc.property(response, fc.array(fc.nat(200), { maxLength: 6 }), fc.boolean(), (text, cuts, isClosed) => {
        const places = [0, ...cuts.filter((at) => at < text.length).sort((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((to, i) => text.slice(places[i], to));
        const whole = read([text], isClosed);
        const cut = read(pieces, isClosed);
        // Whether more came than was said is known only when it has come.
        if (typeof whole === 'object' && typeof cut === 'object') expect(cut.body).toBe(whole.body);
        else expect(cut).toEqual(whole);
      }),
      { numRuns: 2000 },
    );
  });

  test('that is taken is what undici takes it for', async () => {
    await fc.assert(
      fc.asyncProperty(response, async (text) => {
        const own = read([text], true);
        if (typeof own === 'string' || own.isReusable === null) return;
        // undici waits for the body that a 204 must not have; whoever reads the status alone need not.
        if (own.status === 204 && !own.isReusable) return;
        expect(await byUndici(text)).toEqual({ status: own.status, body: own.body });
      }),
      { numRuns: 1000 },
    );
  });
});

/** The response as undici reads it from a connection that is closed after it. */
async function byUndici(text: string): Promise<{ status: number; body: string } | string> {
  let isSent = false;
  const socket = new Duplex({
    read() {},
    write(_, __, done) {
      done();
      if (isSent) return;
      isSent = true;
      setImmediate(() => {
        socket.push(Buffer.from(text, 'latin1'));
        setImmediate(() => socket.push(null));
      });
    },
  });
  const connect = (_: unknown, done: (error: null, socket: never) => void) =>
    void setImmediate(() => done(null, socket as never));
  const client = new Client('http://receiver.example', { connect });
  try {
    const { statusCode, body } = await client.request({ path: '/', method: 'POST', body: '{}' });
    return { status: statusCode, body: Buffer.from(await body.arrayBuffer()).toString('latin1') };
  } catch (error) {
    return (error as Error).message;
  } finally {
    socket.destroy();
    await client.destroy();
  }
}
