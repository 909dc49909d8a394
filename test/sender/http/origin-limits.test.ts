/**
 * Guarantee: requests to one origin open a bounded number of connections, hanging ones have a bound of their own, and a
 * request that waits for a connection is not taken for slow.
 */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { Blame } from '../../../services/sender/blame/blame.ts';
import type { Pace } from '../../../services/sender/http/transport.ts';
import { post } from '../../support/receivers/posting.ts';
import { useTransports } from '../../support/receivers/transports.ts';

/** The pace of an attempt whose receiver does not answer: the test says when it turns slow. */
class HangingPace implements Pace {
  readonly isSlow: boolean;
  readonly time = new Blame(systemClock()).timeOf(null);

  constructor(isSlow = false) {
    this.isSlow = isSlow;
  }

  get isHeld(): boolean {
    return this.time.isHeld;
  }

  answered(): void {}
}

/** A hang is longer than this; a busy machine is not. */
const HANG_MS = 10_000;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const { transportOf, receiver } = useTransports({ totalTimeoutMs: 500, connectTimeoutMs: 300 });

const requestTo = (origin: string) => ({
  merchantId: 'm1',
  origin,
  path: '/hook',
  headers: ['Authorization', 'API-Key whsec_x'],
  body: Buffer.from('{"a":1}'),
  mask: null,
});

describe('the transport’s connections to one origin', () => {
  test('are bounded, and further requests wait their turn', async () => {
    const target = await receiver((socket) => void socket.write(OK));
    const transport = transportOf({ totalTimeoutMs: HANG_MS, limits: { connectionsPerOriginMax: 3 } });
    const posts = await Promise.all(
      Array.from({ length: 30 }, () => post(transport, requestTo(target.origin))),
    );
    expect(posts.every(({ exchange }) => exchange.kind === 'acknowledged')).toBe(true);
    expect(target.accepted).toBe(3);
  });

  test('that hang do not keep others from having one, and are bounded too', {
    timeout: HANG_MS,
  }, async () => {
    const started = await receiver((socket, path) => {
      if (path === '/healthy') socket.write(OK);
    });
    const transport = transportOf({
      totalTimeoutMs: 2 * HANG_MS,
      limits: { connectionsPerOriginMax: 3, connectionsPerOriginSlowMax: 12 },
    });
    const paces = Array.from({ length: 9 }, () => new HangingPace());
    for (const pace of paces) void post(transport, requestTo(started.origin), pace);
    const healthy = new HangingPace();
    const posted = post(transport, { ...requestTo(started.origin), path: '/healthy' }, healthy);
    await expect.poll(() => transport.openConnections).toBe(3);
    // The others wait for a connection, which is not their receiver's doing: they are held, and cannot turn slow.
    expect([...paces, healthy].map(({ isHeld }) => isHeld)).toEqual([
      ...Array(3).fill(false),
      ...Array(7).fill(true),
    ]);
    for (const pace of paces.slice(3)) pace.time.turnSlow();
    for (const open of [6, 9]) {
      for (const pace of paces.slice(open - 6, open - 3)) pace.time.turnSlow();
      await expect.poll(() => transport.openConnections).toBe(open);
      expect(paces.map(({ isHeld }) => isHeld)).toEqual([
        ...Array(open).fill(false),
        ...Array(9 - open).fill(true),
      ]);
    }
    expect(healthy.isHeld).toBe(true);
    for (const pace of paces.slice(6)) pace.time.turnSlow();
    expect((await posted).exchange.kind).toBe('acknowledged');
    expect(healthy.isHeld).toBe(false);
    // Nine are slow by now: three of these get a connection.
    for (let i = 0; i < 20; i += 1) void post(transport, requestTo(started.origin), new HangingPace(true));
    await systemClock().sleep(1000);
    expect(transport.openConnections).toBe(12);
  });

  test('that are free carry their merchant’s requests while others wait for new ones', {
    timeout: HANG_MS,
  }, async () => {
    const started = await receiver((socket, path) => {
      if (path === '/healthy') socket.write(OK);
    });
    const transport = transportOf({ totalTimeoutMs: 2 * HANG_MS, limits: { connectionsPerOriginMax: 1 } });
    const healthy = { ...requestTo(started.origin), merchantId: 'healthy', path: '/healthy' };
    await post(transport, healthy);
    for (let i = 0; i < 3; i += 1) void post(transport, requestTo(started.origin), new HangingPace());
    const pace = new HangingPace();
    const { exchange } = await post(transport, healthy, pace);
    expect([exchange.kind, pace.isHeld]).toEqual(['acknowledged', false]);
    expect(transport.connectionsOpened).toBe(2);
  });

  test('are handed straight to a waiting request, even where none may be kept idle', async () => {
    const target = await receiver((socket) => void socket.write(OK));
    const transport = transportOf({ limits: { connectionsPerOriginMax: 1, idleMax: 0 } });
    await Promise.all([1, 2, 3].map(() => post(transport, requestTo(target.origin))));
    expect(target.accepted).toBe(1);
    await expect.poll(() => transport.openConnections).toBe(0);
  });

  test("count as an own fault, not the receiver's failure, when none was free in time", async () => {
    const started = await receiver(() => {});
    const transport = transportOf({ limits: { connectionsPerOriginMax: 1 } });
    const posted = await Promise.all([1, 2, 3].map(() => post(transport, requestTo(started.origin))));
    expect(posted.map(({ ownFault }) => ownFault)).toEqual([
      null,
      'origin_connections',
      'origin_connections',
    ]);
    expect(transport.openConnections).toBe(0);
  });
});
