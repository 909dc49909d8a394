/** Failed attempts to get in are counted by client, in bounded memory, also those that come at once. */
import { describe, expect, it, test } from 'vitest';
import { type Entry, FailedAttempts, type Outcome } from '../../services/process/access/failed-attempts.ts';
import { networkOf } from '../../services/process/access/network-of.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const MAX = 5;

function started(options: { clientsMax?: number } = {}) {
  const clock = new SimulatedClock(1_000_000);
  const attempts = new FailedAttempts({ clock, perMinuteMax: MAX, ...options });
  const fail = async (address: string): Promise<boolean> => {
    const entry = await attempts.enter(address);
    if (entry.isAdmitted) entry.leave('failed');
    return entry.isAdmitted;
  };
  return { clock, attempts, fail };
}

/** Attempts of one client that come at once, and those of them that are let in, as they are. */
function atOnce(attempts: FailedAttempts, count: number) {
  const inside: Extract<Entry, { isAdmitted: true }>[] = [];
  let refused = 0;
  const all = Array.from({ length: count }, async () => {
    const entry = await attempts.enter('192.0.2.1');
    if (entry.isAdmitted) inside.push(entry);
    else refused += 1;
  });
  const leave = async (outcome: Outcome, times = inside.length) => {
    for (const entry of inside.splice(0, times)) entry.leave(outcome);
    await settled();
  };
  return { inside, leave, all, refused: () => refused };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a client that fails', () => {
  it('is refused after its failures of a minute, until the minute ends', async () => {
    const { clock, attempts, fail } = started();
    for (let i = 0; i < MAX; i += 1) expect(await fail('192.0.2.1')).toBe(true);
    clock.advance(20_000);
    expect(await attempts.enter('192.0.2.1')).toEqual({ isAdmitted: false, againInMs: 40_000 });
    expect(attempts.refusedForMs('192.0.2.1')).toBe(40_000);
    expect(await fail('192.0.2.2')).toBe(true);
    clock.advance(40_000);
    expect(attempts.refusedForMs('192.0.2.1')).toBe(0);
    for (let i = 0; i < MAX; i += 1) expect(await fail('192.0.2.1')).toBe(true);
    expect(await fail('192.0.2.1')).toBe(false);
  });

  it('is refused for failures that were found without an attempt, too', async () => {
    const { attempts, fail } = started();
    for (let i = 0; i < MAX; i += 1) attempts.count('192.0.2.1');
    expect(await fail('192.0.2.1')).toBe(false);
  });

  it('does not fail more often when its attempts come at once', async () => {
    const { attempts } = started();
    const many = atOnce(attempts, 300);
    await settled();
    expect(many.inside).toHaveLength(MAX);
    await many.leave('failed', MAX - 1);
    expect([many.inside.length, many.refused()]).toEqual([1, 0]);
    await many.leave('failed');
    await Promise.all(many.all);
    expect([many.inside.length, many.refused()]).toEqual([0, 300 - MAX]);
  });

  it('that is accepted in between is let in again and again, however many come at once', async () => {
    const { attempts } = started();
    const many = atOnce(attempts, 300);
    await settled();
    let accepted = 0;
    while (many.inside.length > 0) {
      accepted += many.inside.length;
      expect(many.inside.length).toBeLessThanOrEqual(MAX);
      await many.leave('accepted');
    }
    expect([accepted, many.refused(), attempts.size]).toEqual([300, 0, 0]);
  });

  it('has all its attempts let in when nothing can be judged', async () => {
    const { attempts } = started();
    const many = atOnce(attempts, 300);
    await settled();
    await many.leave('unknown', 1);
    expect(many.inside).toHaveLength(299);
    await many.leave('unknown');
    expect(attempts.size).toBe(0);
  });
});

describe('the memory of clients', () => {
  it('is bounded: of 100,000 that fail, those that did last are remembered', async () => {
    const { attempts, fail } = started();
    const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
    for (let n = 0; n < 100_000; n += 1) await fail(address(n));
    expect(attempts.size).toBe(10_000);
    for (let i = 1; i < MAX; i += 1) await fail(address(99_999));
    expect([await fail(address(99_999)), await fail(address(0))]).toEqual([false, true]);
  });

  it('keeps a client that goes on failing, however many others fail once', async () => {
    const { attempts, fail } = started({ clientsMax: 10 });
    for (let n = 0; n < MAX; n += 1) {
      await fail('192.0.2.1');
      for (let other = 0; other < 9; other += 1) await fail(`10.0.${n}.${other}`);
    }
    expect([await fail('192.0.2.1'), attempts.size]).toEqual([false, 10]);
  });

  it('has no client that was only accepted, and lets in those that waited when it was forgotten', async () => {
    const { attempts, fail } = started({ clientsMax: 1 });
    const many = atOnce(attempts, MAX + 1);
    await settled();
    await fail('192.0.2.2');
    await many.leave('accepted');
    expect(many.inside).toHaveLength(1);
    await many.leave('accepted');
    expect(attempts.size).toBe(1);
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2:ffff::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::1:0:0:0:9', '2001:db8:0:1::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
  ['no address', 'no address'],
])('the client at %j is told by %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
