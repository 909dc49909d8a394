/**
 * Guarantee: receivers that close their connections as ordinary servers do cost no attempt; what one merchant's receiver
 * sends is never taken for the answer to another merchant; no connection outlives its age or its certificate.
 */
import { constants } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import type { HttpTransport } from '../../../services/sender/http/transport.ts';
import { issueCertificate } from '../../../simulator/receiver/certificate-authority.ts';
import { movableClock } from '../../support/movable-clock.ts';
import {
  type Answer,
  type RawReceiver,
  startRawReceiver,
} from '../../support/receivers/misbehaving-receivers.ts';
import { post } from '../../support/receivers/posting.ts';
import { useTransports } from '../../support/receivers/transports.ts';

const SLOW_MS = 30_000;
const MINUTE_MS = 60_000;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const OK_AND_CLOSE = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';
/** Options of a receiver that offers no TLS session. */
const WITHOUT_SESSIONS = { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;
const clock = systemClock();
const transports = useTransports({ totalTimeoutMs: 10_000, connectTimeoutMs: 3000 });
const { transportOf, receiver } = transports;

const requestTo = ({ origin }: RawReceiver, merchantId = 'm1', path = '/hook') => ({
  merchantId,
  origin,
  path,
  headers: ['Authorization', 'API-Key whsec_x'],
  body: Buffer.from('{"a":1}'),
  mask: null,
});

async function codeOf(transport: HttpTransport, request: ReturnType<typeof requestTo>): Promise<string> {
  const { exchange } = await post(transport, request);
  return exchange.kind === 'failed' ? exchange.failureCode : exchange.kind;
}

describe('a receiver that closes its connections', () => {
  const endings: [string, (socket: Parameters<Answer>[0]) => void][] = [
    ['at once', (socket) => void socket.end()],
    ['after 1 ms', (socket) => void setTimeout(() => socket.end(), 1)],
    ['after 5 ms', (socket) => void setTimeout(() => socket.end(), 5)],
    ['after 1 ms by a reset', (socket) => void setTimeout(() => socket.destroy(), 1)],
  ];
  const cases = endings.flatMap(([when, end]) =>
    [1, 5].flatMap((every) =>
      [true, false].map((isAnnounced) => ({
        name: `${when}, ${every === 1 ? 'after every answer' : 'after every fifth'}, ${isAnnounced ? '' : 'un'}announced`,
        every,
        isAnnounced,
        end,
      })),
    ),
  );

  test.each(cases)('$name, gets every webhook at the first attempt', { timeout: SLOW_MS }, async (of) => {
    const answered = new WeakMap<object, number>();
    const target = await receiver((socket) => {
      const count = (answered.get(socket) ?? 0) + 1;
      answered.set(socket, count);
      const isLast = count % of.every === 0;
      socket.write(isLast && of.isAnnounced ? OK_AND_CLOSE : OK);
      if (isLast) of.end(socket);
    });
    const transport = transportOf();
    const codes: Promise<string>[] = [];
    for (let i = 0; i < 200; i += 1) {
      codes.push(codeOf(transport, requestTo(target)));
      await clock.sleep(5);
    }
    const failed = (await Promise.all(codes)).filter((code) => code !== 'acknowledged');
    expect(failed).toEqual([]);
  });

  test('during a request gets the request once more, on a fresh connection, and no more than once', async () => {
    let requests = 0;
    const answer: Answer = (socket) => {
      requests += 1;
      if (requests === 1) socket.write(OK);
      else socket.end();
    };
    const target = await receiver(answer, WITHOUT_SESSIONS);
    const transport = transportOf();
    expect(await codeOf(transport, requestTo(target))).toBe('acknowledged');
    expect(await codeOf(transport, requestTo(target))).toBe('connection_reset');
    expect([requests, target.accepted]).toEqual([3, 2]);
    // A fresh connection that is closed is a failed attempt.
    expect(await codeOf(transport, requestTo(target))).toBe('connection_reset');
    expect(requests).toBe(4);
  });

  test('in the middle of an answer does not get the request again', async () => {
    let requests = 0;
    const target = await receiver((socket) => {
      requests += 1;
      if (requests === 1) socket.write(OK);
      else socket.end('HTTP/1.1 2');
    });
    const transport = transportOf();
    await codeOf(transport, requestTo(target));
    expect(await codeOf(transport, requestTo(target))).toBe('connection_reset');
    expect(requests).toBe(2);
  });

  test('again and again gets connections that are used once, for some minutes', async () => {
    let isClosing = true;
    const used = new WeakSet<object>();
    const target = await receiver((socket) => {
      // The second request on a connection is met by its end.
      if (isClosing && used.has(socket)) socket.end();
      else socket.write(OK);
      used.add(socket);
    });
    const movable = movableClock();
    const transport = transportOf({ clock: movable });
    for (let i = 0; i < 8; i += 1) expect(await codeOf(transport, requestTo(target))).toBe('acknowledged');
    expect(target.received).toContain('connection: close');
    const requests = () => target.received.split('POST ').length - 1;
    const before = { requests: requests(), accepted: target.accepted };
    for (let i = 0; i < 5; i += 1) await codeOf(transport, requestTo(target));
    expect([requests() - before.requests, target.accepted - before.accepted]).toEqual([5, 5]);
    isClosing = false;
    movable.forward(6 * MINUTE_MS);
    const accepted = target.accepted;
    for (let i = 0; i < 5; i += 1) await codeOf(transport, requestTo(target));
    expect(target.accepted - accepted).toBe(1);
  });
});

describe('two merchants at one origin', () => {
  const GONE = 'HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n';
  const extra =
    (answer: string, ms: number): Answer =>
    (socket) => {
      socket.write(OK);
      setTimeout(() => socket.write(answer), ms);
    };
  const extras: [string, Answer][] = [
    ['in the same record', (socket) => void socket.write(OK + OK)],
    ['after 2 ms', extra(OK, 2)],
    ['after 20 ms', extra(OK, 20)],
    ['after 20 ms, a 410', extra(GONE, 20)],
    [
      'in two pieces',
      (socket) => {
        socket.write(`${OK}HTTP/1.1 20`);
        setTimeout(() => socket.write('0 OK\r\nContent-Length: 0\r\n\r\n'), 20);
      },
    ],
  ];

  test.each(extras)('are never credited with the other’s surplus answer, %s', async (_, answer) => {
    const target = await receiver((socket, path) => {
      if (path === '/one-too-many') answer(socket, path);
      else setTimeout(() => socket.write('HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n'), 60);
    });
    const transport = transportOf();
    const codes: string[] = [];
    for (let i = 0; i < 10; i += 1) {
      expect(await codeOf(transport, requestTo(target, 'hostile', '/one-too-many'))).toBe('acknowledged');
      codes.push(await codeOf(transport, requestTo(target, 'victim', '/victim')));
    }
    expect(new Set(codes)).toEqual(new Set(['http_5xx']));
  });

  test('share its connections fairly: a backlog of one does not hold up the other', async () => {
    const target = await receiver((socket) => void setTimeout(() => socket.write(OK), 20));
    const transport = transportOf({ limits: { connectionsPerOriginMax: 2 } });
    let done = 0;
    const backlog = Array.from({ length: 60 }, () =>
      codeOf(transport, requestTo(target, 'busy')).then((code) => {
        done += 1;
        return code;
      }),
    );
    await post(transport, requestTo(target, 'other'));
    expect(done).toBeLessThan(10);
    expect(new Set(await Promise.all(backlog))).toEqual(new Set(['acknowledged']));
  });
});

describe('a connection', () => {
  test('is reused for some minutes at most', async () => {
    const movable = movableClock();
    const target = await receiver((socket) => void socket.write(OK));
    const transport = transportOf({ clock: movable });
    for (let i = 0; i < 3; i += 1) {
      await codeOf(transport, requestTo(target));
      movable.forward(MINUTE_MS);
    }
    expect(target.accepted).toBe(1);
    movable.forward(2 * MINUTE_MS);
    await codeOf(transport, requestTo(target));
    expect(target.accepted).toBe(2);
  });

  test('is not reused, nor its session resumed, once the wall clock is past the end of its certificate', async () => {
    const movable = movableClock();
    const endsAt = new Date(Date.now() + 60 * MINUTE_MS);
    const ending = await issueCertificate(transports.authority, { hosts: ['127.0.0.1'], notAfter: endsAt });
    const resumed: boolean[] = [];
    const target = await startRawReceiver(ending, (socket) => {
      resumed.push(socket.isSessionReused());
      socket.write(OK);
    });
    transports.closeAfter(target);
    const transport = transportOf({ clock: movable });
    await codeOf(transport, requestTo(target));
    await codeOf(transport, requestTo(target));
    expect(target.accepted).toBe(1);
    movable.setWall(61 * MINUTE_MS);
    await codeOf(transport, requestTo(target));
    expect([target.accepted, resumed.at(-1)]).toEqual([2, false]);
  });

  test.each([
    ['TLSv1.2', 'kept open', OK],
    ['TLSv1.2', 'resumed', OK_AND_CLOSE],
    ['TLSv1.3', 'kept open', OK],
    ['TLSv1.3', 'resumed', OK_AND_CLOSE],
  ] as const)(
    'over %s that is %s does not outlive its certificate',
    { timeout: SLOW_MS },
    async (version, _, answer) => {
      const endsAt = new Date(Math.ceil((Date.now() + 1500) / 1000) * 1000);
      const shortLived = await issueCertificate(transports.authority, {
        hosts: ['127.0.0.1'],
        notAfter: endsAt,
      });
      const resumed: boolean[] = [];
      const target = await startRawReceiver(
        shortLived,
        (socket) => {
          resumed.push(socket.isSessionReused());
          socket.write(answer);
        },
        { minVersion: version, maxVersion: version },
      );
      transports.closeAfter(target);
      const transport = transportOf();
      for (let i = 0; i < 3; i += 1) {
        expect(await codeOf(transport, requestTo(target))).toBe('acknowledged');
        await clock.sleep(50);
      }
      expect(target.accepted === 1 || resumed.at(-1) === true).toBe(true);
      await clock.sleep(endsAt.getTime() - Date.now() + 1100);
      expect(await codeOf(transport, requestTo(target))).toBe('tls_error');
    },
  );
});
