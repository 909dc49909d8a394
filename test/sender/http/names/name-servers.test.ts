/**
 * Guarantee: the name servers are those that the system has now; a name is resolved while one of them answers, however
 * slowly, and while one of its address families is answered; and when none answers anything, that is known for our own
 * fault.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../services/process/clock.ts';
import { NameServers } from '../../../../services/sender/http/names/name-servers.ts';
import { type NameServer, type Said, startNameServer } from '../../../support/faults/name-server.ts';

const TEST_MS = 30_000;
const CONNECT_MS = 3000;
const HOST = 'hooks.merchant.com';
const A = '93.184.216.34';
const AAAA = '2606:2800:220:1::1';
const clock = systemClock();
const opened: NameServer[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function start(say: Parameters<typeof startNameServer>[0], port?: number): Promise<NameServer> {
  const server = await startNameServer(say, port);
  opened.push(server);
  return server;
}

/** Answers every question for addresses with both, and the others with no record. */
const both = (_name: string, type: string): Said => (type === 'A' ? [A] : type === 'AAAA' ? [AAAA] : []);
const silent = (): Said => null;

const of = (servers: readonly string[]) =>
  new NameServers({ clock, connectTimeoutMs: CONNECT_MS, servers: () => servers });

async function timed<Value>(work: Promise<Value>): Promise<{ value: Value; ms: number }> {
  const from = performance.now();
  const value = await work;
  return { value, ms: performance.now() - from };
}

const failureOf = (names: NameServers, host = HOST) =>
  names.resolve(host).then(
    () => null,
    ({ code, ours }: { code: string; ours: string | null }) => ({ code, isOurs: ours !== null }),
  );

describe('a name', () => {
  test('has the addresses of both families', async () => {
    const names = of([(await start(both)).at]);
    expect(await names.resolve(HOST)).toMatchObject({ first: [A, AAAA], later: null });
  });

  test.each([
    ['A', A],
    ['AAAA', AAAA],
  ])('whose %s question alone is answered has addresses at once', async (answered, address) => {
    const names = of([(await start((name, type) => (type === answered ? both(name, type) : null))).at]);
    const { value, ms } = await timed(names.resolve(HOST));
    expect(value.first).toEqual([address]);
    expect(ms).toBeLessThan(1000);
    expect(await value.later).toEqual([]);
  });

  test('has the addresses of a family that is answered late', async () => {
    const late = async (name: string, type: string) => {
      if (type === 'AAAA') await clock.sleep(300);
      return both(name, type);
    };
    const { first, later } = await of([(await start(late)).at]).resolve(HOST);
    expect([first, await later]).toEqual([[A], [AAAA]]);
  });

  test('is waited for although its servers take a second, and others are answered at once', {
    timeout: TEST_MS,
  }, async () => {
    const server = await start(async (name, type) => {
      if (name.startsWith('slow')) await clock.sleep(1200);
      return both(name, type);
    });
    const names = of([server.at]);
    for (let i = 0; i < 20; i += 1) await names.resolve(`quick${i}.merchant.com`);
    expect((await names.resolve('slow.merchant.com')).first).toContain(A);
  });

  test('is resolved although the first datagram is lost', async () => {
    let isFirst = true;
    const server = await start((name, type) => {
      if (type !== 'A' || !isFirst) return type === 'AAAA' ? [] : both(name, type);
      isFirst = false;
      return null;
    });
    expect((await of([server.at]).resolve(HOST)).first).toEqual([A]);
  });

  test.each<[string, Said]>([
    ['is silent', null],
    ['refuses', 'refused'],
    ['fails', 'servfail'],
  ])(
    'is resolved by the second of two servers when the first %s, and the next ones at once',
    async (_, said) => {
      const first = await start(() => said);
      const names = of([first.at, (await start(both)).at]);
      expect((await names.resolve('a.merchant.com')).first).toEqual([A, AAAA]);
      const askedBefore = first.asked.length;
      expect((await names.resolve('b.merchant.com')).first).toEqual([A, AAAA]);
      expect(first.asked.length).toBe(askedBefore);
    },
  );

  test('that does not exist is its own fault', async () => {
    const names = of([(await start(() => 'nxdomain')).at]);
    expect(await failureOf(names)).toEqual({ code: 'ENOTFOUND', isOurs: false });
  });

  test.each<[string, Said, string]>([
    ['says nothing', null, 'ETIMEOUT'],
    ['fails', 'servfail', 'ESERVFAIL'],
    ['refuses', 'refused', 'EREFUSED'],
  ])(
    'that %s is its own fault while the control question is answered',
    { timeout: TEST_MS },
    async (_, said, code) => {
      const server = await start((name, type) => (name === HOST ? said : both(name, type)));
      const names = of([server.at]);
      expect(await failureOf(names)).toEqual({ code, isOurs: false });
      expect(names.failing).toBeNull();
      expect(server.asked).toContain('NS .');
    },
  );
});

describe('name servers', () => {
  test.each<[string, Said, string]>([
    ['are silent', null, 'ETIMEOUT'],
    ['fail', 'servfail', 'ESERVFAIL'],
    ['refuse', 'refused', 'EREFUSED'],
  ])(
    'that %s, whatever they are asked, are our own fault, and are named',
    { timeout: TEST_MS },
    async (_, said, code) => {
      const server = await start(() => said);
      const names = of([server.at]);
      expect(await failureOf(names)).toEqual({ code, isOurs: true });
      expect(names.failing).toContain(server.at);
      expect(names.failing).toContain(code);
    },
  );

  test('that are gone are our own fault, until they are there again, or others are in their place', async () => {
    const gone = await start(both);
    await gone.close();
    let list = [gone.at];
    const names = new NameServers({ clock, connectTimeoutMs: CONNECT_MS, servers: () => list });
    expect(await failureOf(names)).toEqual({ code: 'ECONNREFUSED', isOurs: true });
    const again = await start(both, gone.port);
    expect((await names.resolve(HOST)).first).toEqual([A, AAAA]);
    await expect.poll(() => names.failing, { timeout: TEST_MS }).toBeNull();
    await again.close();
    expect(await failureOf(names)).toMatchObject({ isOurs: true });
    list = [(await start(both)).at];
    expect((await names.resolve(HOST)).first).toEqual([A, AAAA]);
    await expect.poll(() => names.failing, { timeout: TEST_MS }).toBeNull();
  });

  test('are asked again when somebody wants to know, without any name to resolve', {
    timeout: TEST_MS,
  }, async () => {
    let isSilent = true;
    const server = await start((name, type) => (isSilent ? 'servfail' : both(name, type)));
    const names = of([server.at]);
    expect(await failureOf(names)).toMatchObject({ isOurs: true });
    isSilent = false;
    await expect.poll(() => names.failing, { timeout: TEST_MS, interval: 200 }).toBeNull();
  });

  test('that do not answer the control question are judged by the names that they resolve', {
    timeout: TEST_MS,
  }, async () => {
    const server = await start((name, type) => {
      if (type === 'NS') return 'refused';
      return name.startsWith('bad') ? 'servfail' : both(name, type);
    });
    const names = of([server.at]);
    await names.resolve(HOST);
    expect(await failureOf(names, 'bad.merchant.com')).toEqual({ code: 'ESERVFAIL', isOurs: false });
    expect(names.failing).toBeNull();
  });

  test('that answer from memory, with nobody behind them, are our own fault', {
    timeout: TEST_MS,
  }, async () => {
    let isAlone = false;
    const server = await start((name, type) =>
      isAlone && name !== 'known.merchant.com' ? null : both(name, type),
    );
    const names = of([server.at]);
    await names.resolve('known.merchant.com');
    isAlone = true;
    const failing = failureOf(names);
    await names.resolve('known.merchant.com');
    await clock.sleep(CONNECT_MS / 2 + 200);
    await names.resolve('known.merchant.com');
    expect(await failing).toEqual({ code: 'ETIMEOUT', isOurs: true });
  });

  test('that begin to answer while they are doubted are put the name once more', {
    timeout: TEST_MS,
  }, async () => {
    let list = [(await start(silent)).at];
    const names = new NameServers({ clock, connectTimeoutMs: CONNECT_MS, servers: () => list });
    const resolved = names.resolve(HOST);
    // After the last time that the name is asked for, before the end of the doubt.
    await clock.sleep(1200);
    list = [(await start(both)).at];
    expect(await resolved).toMatchObject({ first: [A, AAAA] });
  });

  test('that go silent while a name is asked for are our own fault, although they answered others before', {
    timeout: TEST_MS,
  }, async () => {
    let isSilent = false;
    const server = await start((name, type) => (isSilent || name === HOST ? silent() : both(name, type)));
    const names = of([server.at]);
    const failing = failureOf(names);
    await names.resolve('other.merchant.com');
    isSilent = true;
    expect(await failing).toEqual({ code: 'ETIMEOUT', isOurs: true });
  });
});
