import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { Culprits, culpritKey, STALLS_KEPT_MS, type Stall } from '../../services/domain/stalls/stall.ts';

const NOW = STALLS_KEPT_MS * 10;
const task = (n: number, endpoint = n, merchant = n) => ({
  deliveryId: `d${n}`,
  endpointId: `e${endpoint}`,
  merchantId: `m${merchant}`,
});

function stall(of: ReturnType<typeof task>, at = NOW): Stall {
  const fields = { delivery: of.deliveryId, endpoint: of.endpointId, merchant: of.merchantId };
  return { id: randomUUID(), at, stalledMs: 20_000, busyWith: 'attempt', fields };
}

const culpritsOf = (stalls: readonly Stall[]) => {
  const culprits = new Culprits();
  for (const each of stalls) culprits.note(each);
  return culprits;
};

it('a delivery is put aside after two stalls, and no other one', () => {
  expect(culpritsOf([stall(task(1))]).ofTask(task(1), NOW)).toBeNull();
  const culprits = culpritsOf([stall(task(1)), stall(task(1))]);
  expect(culprits.ofTask(task(1), NOW)).toBe(
    'a process stood still and was ended 2 times while it was busy with delivery d1',
  );
  expect(culprits.ofTask(task(2, 1, 1), NOW)).toBeNull();
});

it('an endpoint is put aside after three, and a merchant after five', () => {
  const three = [1, 2, 3].map((n) => stall(task(n, 7, 8)));
  expect(culpritsOf(three).ofTask(task(9, 7, 8), NOW)).toContain(
    '3 times while it was busy with deliveries to endpoint e7',
  );
  expect(culpritsOf(three).ofTask(task(9, 9, 8), NOW)).toBeNull();
  const five = [1, 2, 3, 4, 5].map((n) => stall(task(n, n, 8)));
  expect(culpritsOf(five).ofTask(task(9, 9, 8), NOW)).toContain(
    '5 times while it was busy with deliveries of merchant m8',
  );
  expect(culpritsOf(five).ofTask(task(9, 9, 9), NOW)).toBeNull();
});

it('a stall that was written down early counts once, and not at all when the main thread went on', () => {
  const early = { ...stall(task(1)), id: 'a' };
  expect(culpritsOf([early, { ...early, stalledMs: 20_000 }]).ofTask(task(1), NOW)).toBeNull();
  const culprits = culpritsOf([early, { ...early, id: 'b' }]);
  expect(culprits.ofTask(task(1), NOW)).toContain('2 times');
  culprits.note({ at: NOW, resumed: 'b' });
  expect(culprits.ofTask(task(1), NOW)).toBeNull();
  expect(culprits.countSince(NOW - 1000)).toBe(1);
  culprits.note({ at: NOW, resumed: 'a' });
  expect(culprits.countSince(0)).toBe(0);
});

it('a stall counts for a week', () => {
  const culprits = culpritsOf([stall(task(1), NOW - STALLS_KEPT_MS - 1), stall(task(1))]);
  expect(culprits.ofTask(task(1), NOW)).toBeNull();
  expect(culprits.countSince(NOW - 1000)).toBe(1);
});

it('a pardon forgets what it names, and later stalls count again', () => {
  const culprits = culpritsOf([1, 2, 3, 4, 5].map((n) => stall(task(n, 7, 8))));
  culprits.note({ at: NOW, pardoned: [culpritKey('endpoint', 'e7'), culpritKey('merchant', 'm8')] });
  expect(culprits.ofTask(task(6, 7, 8), NOW)).toBeNull();
  for (const n of [1, 2, 3]) culprits.note(stall(task(n + 10, 7, 8)));
  expect(culprits.ofTask(task(6, 7, 8), NOW)).toContain('3 times');
});

it('events count by their id and by their place, requests and unknown work by nothing', () => {
  const of = (busyWith: string | null, fields: Record<string, string>): Stall => ({
    id: randomUUID(),
    at: NOW,
    stalledMs: 1,
    busyWith,
    fields,
  });
  const twice = (each: Stall) => culpritsOf([each, { ...each, id: randomUUID() }]);
  expect(twice(of('event', { event: 'a', merchant: 'm1' })).ofEvent('a', NOW)).toContain('2 times');
  expect(twice(of('record', { record: 't/0@5' })).ofRecord(() => 't/0@5', NOW)).toContain('2 times');
  expect(twice(of('event', { event: 'a', merchant: 'm1' })).ofTask(task(1), NOW)).toBeNull();
  expect(twice(of('request', { delivery: 'd1' })).ofTask(task(1), NOW)).toBeNull();
  expect(twice(of(null, {})).countSince(0)).toBe(2);
});
