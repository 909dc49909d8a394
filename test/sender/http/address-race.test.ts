/**
 * Guarantee: a name with several addresses is reached while one of them works, wherever it stands among them, and
 * whatever the others do: refuse, say nothing, or fail once they are connected.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { NOTHING_EXEMPT } from '../../../services/egress/egress.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { ENOUGH_DESCRIPTORS } from '../../../services/process/descriptors.ts';
import { AddressGuard } from '../../../services/sender/http/address-guard.ts';
import { type Dial, Race } from '../../../services/sender/http/address-race.ts';
import { ConnectFailure } from '../../../services/sender/http/connect-failure.ts';
import { Connector, secureContext } from '../../../services/sender/http/connector.ts';
import type { Addresses } from '../../../services/sender/http/names/addresses.ts';
import { TlsSessions } from '../../../services/sender/http/tls/tls-session.ts';
import { startTcpReceiver } from '../../support/receivers/misbehaving-receivers.ts';
import { useTransports } from '../../support/receivers/transports.ts';

const TEST_MS = 30_000;
const CONNECT_MS = 3000;
const clock = systemClock();
const transports = useTransports({ totalTimeoutMs: 10_000, connectTimeoutMs: CONNECT_MS });
const connectors: Connector[] = [];
afterEach(() => {
  for (const each of connectors.splice(0)) each.close();
});

/** Connects to a name on a port. */
function connect(addresses: Addresses, port: number) {
  const resolvers = { resolve: async () => addresses, resolveExempt: async () => addresses };
  const guard = new AddressGuard({ ports: [port], allow: NOTHING_EXEMPT }, resolvers);
  guard.permits = (_host, address) => !address.startsWith('10.');
  const connector = new Connector({
    clock,
    guard,
    secureContext: secureContext(transports.authority.certPem),
    connectTimeoutMs: CONNECT_MS,
    tunnels: null,
    descriptors: ENOUGH_DESCRIPTORS,
  });
  connectors.push(connector);
  return connector.connect({ host: 'localhost', port, sessions: new TlsSessions() });
}

/** Addresses of this machine that refuse: nobody listens there. */
const refusing = (count: number) => Array.from({ length: count }, (_, i) => `127.0.0.${i + 10}`);

describe('a name with several addresses', () => {
  test.each([2, 3, 12, 31])('of which %i refuse is reached at its last address', async (count) => {
    const receiver = await transports.receiver(() => {});
    const { socket } = await connect(
      { first: [...refusing(count), '127.0.0.1'], later: null },
      receiver.port,
    );
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
  });

  test.each<[string, (socket: { destroy(): void }) => void]>([
    ['close their connections', (socket) => socket.destroy()],
    ['accept them and say nothing', () => {}],
  ])('of which some %s is reached at its last address', { timeout: TEST_MS }, async (_, behave) => {
    const receiver = await transports.receiver(() => {});
    const bad = await startTcpReceiver(behave, { address: '127.0.0.2', port: receiver.port });
    transports.closeAfter(bad);
    const { socket } = await connect({ first: ['127.0.0.2', '127.0.0.1'], later: null }, receiver.port);
    expect(socket.remoteAddress).toBe('127.0.0.1');
    expect(bad.accepted).toBe(1);
    socket.destroy();
  });

  test('is reached at an address that comes late, when the first ones refuse', async () => {
    const receiver = await transports.receiver(() => {});
    const later = clock.sleep(100).then(() => ['127.0.0.1']);
    const { socket } = await connect({ first: refusing(2), later }, receiver.port);
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
  });

  test('is refused when an address that comes late may not be connected to', async () => {
    const receiver = await transports.receiver(() => {});
    const later = clock.sleep(100).then(() => ['127.0.0.1', '10.0.0.1']);
    await expect(connect({ first: refusing(2), later }, receiver.port)).rejects.toMatchObject({
      failureCode: 'blocked_address',
      facts: { blockedBy: 'address' },
    });
    expect(receiver.accepted).toBe(0);
  });

  test('of which all refuse is refused', async () => {
    const receiver = await transports.receiver(() => {});
    await expect(connect({ first: refusing(3), later: null }, receiver.port)).rejects.toMatchObject({
      failureCode: 'connect_refused',
    });
  });
});

describe('silent addresses', () => {
  /** Begins a race of ways that never answer, and notes when each was begun. */
  function begun(count: number, connects: (way: number) => boolean) {
    const times: number[] = [];
    const from = clock.now();
    const dial = (way: number): Dial<number> => {
      times.push(clock.now() - from);
      return { result: connects(way) ? Promise.resolve(way) : new Promise(() => {}), cancel: () => {} };
    };
    const ways = Array.from({ length: count }, (_, i) => i);
    const rules = { clock, staggerMs: () => 20, connectedMs: 20, mayGoOn: () => true };
    return { times, race: new Race(ways, dial, rules) };
  }

  test('are passed over one after the other, until one answers', async () => {
    const { race, times } = begun(10, (way) => way === 7);
    expect(await race.result).toBe(7);
    expect(times.length).toBe(8);
  });

  test('have no way left when our own fault ends the race', async () => {
    const fault = new ConnectFailure('connect_refused', 'EMFILE', { ownFault: 'machine_limit' });
    const dial = (): Dial<never> => ({ result: Promise.reject(fault), cancel: () => {} });
    let dialled = 0;
    const race = new Race(
      [1, 2],
      () => {
        dialled += 1;
        return dial();
      },
      { clock, staggerMs: () => 20, connectedMs: 20, mayGoOn: () => false },
    );
    await expect(race.result).rejects.toBe(fault);
    expect(dialled).toBe(1);
  });
});
