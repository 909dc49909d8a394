/**
 * Guarantee: tasks that an endpoint cannot take are parked for a short while, so that none waits long after the
 * endpoint's recovery and not all come back all the time; and they do not delay tasks for others.
 */
import { beforeEach, expect, test } from 'vitest';
import type { Tier } from '../../../services/domain/retry.ts';
import type { LaneOptions } from '../../../services/sender/lanes/lane-options.ts';
import type { FakeTask } from './fake-task.ts';
import { laneBench } from './lane-bench.ts';

let { clock, lanes, started, admit, admitMany, settle, inFlight } = laneBench();
function build(options: Partial<LaneOptions> = {}): void {
  ({ clock, lanes, started, admit, admitMany, settle, inFlight } = laneBench(options));
}
beforeEach(() => build());

/** An endpoint whose first attempts all failed, `durationMs` each. */
const failing = (endpointId: string, durationMs: number) => {
  admitMany(4, endpointId);
  for (let round = 0; round < 4; round += 1) {
    clock.advance(durationMs);
    for (const each of inFlight()) settle(each, 'failure');
  }
};

test('a burst to a healthy endpoint waits in memory, however small its window is', () => {
  const burst = admitMany(4000, 'a');
  expect(burst.filter(({ parkedFor }) => parkedFor !== null)).toHaveLength(0);
});

test('a failing endpoint keeps its few newest tasks waiting, and the others are parked', () => {
  failing('a', 100);
  const later = admitMany(100, 'a');
  const waiting = later.filter(({ place }) => place === 'waiting');
  expect(waiting).toEqual(later.slice(-64));
  const started = later.filter(({ starts }) => starts > 0).length;
  const parked = later.filter(({ parkedFor }) => parkedFor !== null).length;
  expect(parked).toBe(later.length - waiting.length - started);
});

test('an endpoint that answers slowly keeps what it takes in a few seconds, a silent one only its share', () => {
  build({ waitingMax: 100 });
  const slow = admitMany(4, 'slow');
  const silent = admitMany(4, 'silent');
  clock.advance(300);
  for (const each of slow) settle(each);
  expect(silent.every(({ place }) => place === 'slow')).toBe(true);
  const later = [...admitMany(60, 'slow'), ...admitMany(60, 'silent')];
  const waiting = later.filter(({ place }) => place === 'waiting').map(({ endpointId }) => endpointId);
  expect(waiting.filter((id) => id === 'slow').length).toBeGreaterThan(45);
  expect(waiting.filter((id) => id === 'silent').length).toBeLessThanOrEqual(25);
});

test('tasks for a healthy endpoint count as waiting for the sender until the endpoint turns dark', () => {
  admitMany(104, 'a');
  expect(lanes.waitingForUs).toBe(100);
  settle(started[0]);
  expect(lanes.waitingForUs).toBe(98);
  clock.advance(300);
  expect(lanes.waitingForUs).toBe(0);
  admitMany(10, 'a');
  expect(lanes.waitingForUs).toBe(0);
});

test('a burst to a few of many endpoints does not count as waiting for the sender, so that the others get past it', () => {
  for (let i = 0; i < 50; i += 1) settle(admit(`endpoint ${i}`));
  admitMany(300, 'a');
  expect(lanes.waitingForUs).toBe(0);
  for (let i = 0; i < 20; i += 1) admitMany(10, `endpoint ${i}`);
  expect(lanes.waitingForUs).toBeGreaterThan(300);
});

test('a burst to an endpoint that answers in 150 ms does not delay tasks for other endpoints', () => {
  let left = 8000;
  for (let step = 0; step < 300 && left > 0; step += 1) {
    for (; left > 0 && lanes.waitingForUs < 128; left -= 1) admit('a');
    for (const each of inFlight()) if (clock.now() - each.startedAt >= 150) settle(each);
    clock.advance(10);
  }
  expect(left).toBe(0);
  const behind = admit('b');
  clock.advance(10);
  expect(behind.place).toBe('fast');
});

test('a dark endpoint parks all but a few of its waiting tasks', () => {
  const burst = admitMany(200, 'dark');
  clock.advance(10_000);
  expect(burst.filter(({ place }) => place === 'waiting').length).toBeLessThanOrEqual(64);
  expect(burst.filter(({ parkedFor }) => parkedFor !== null).length).toBeGreaterThan(100);
});

test('few parked tasks come back after 3 s and the others after 66 s, so that there is no storm every 3 s', () => {
  failing('a', 10_000);
  const parked = admitMany(10_000, 'a').map(({ parkedFor }) => parkedFor);
  const count = (tier: Tier) => parked.filter((each) => each === tier).length;
  expect(count(3)).toBe(100);
  expect(count(3) + count(66)).toBeGreaterThan(9900);
});

test('no more than a thousand parked tasks of all dark endpoints come back every 3 s', () => {
  for (let i = 0; i < 30; i += 1) failing(`dark ${i}`, 10_000);
  const parked: FakeTask[] = [];
  for (let i = 0; i < 30; i += 1) parked.push(...admitMany(300, `dark ${i}`));
  expect(parked.filter(({ parkedFor }) => parkedFor === 3)).toHaveLength(1000);
});

test('tasks without room for an endpoint that answers come back after 3 s, as many as the endpoint takes', () => {
  build({ waitingMax: 400 });
  const burst = admitMany(3000, 'a');
  expect(burst.filter(({ parkedFor }) => parkedFor === 66)).toHaveLength(0);
  expect(burst.filter(({ parkedFor }) => parkedFor === 3).length).toBeGreaterThan(2500);
});

test('tasks that wait for this process come back after 3 s, however many', () => {
  build({ waitingMax: 400 });
  const parked = admitMany(10_000, 'a').flatMap(({ parkedFor }) => parkedFor ?? []);
  expect(parked.length).toBeGreaterThan(9000);
  expect(new Set(parked)).toEqual(new Set([3]));
});

test('tasks of endpoints that do not answer make room for one that waits for this process', () => {
  build({ waitingMax: 60 });
  for (let i = 0; i < 30; i += 1) admitMany(4, `dark ${i}`);
  clock.advance(300);
  for (let i = 0; i < 30; i += 1) admitMany(20, `dark ${i}`);
  expect(lanes.counts.waiting).toBe(60);
  const healthy = admitMany(8, 'healthy');
  expect(healthy.map(({ parkedFor }) => parkedFor)).toEqual(Array(8).fill(null));
  expect(lanes.counts.waiting).toBe(60);
});

test('a scaled schedule shortens the tiers, and not the number of tasks that a receiver takes', () => {
  build({ retryScale: 1000 });
  failing('a', 100);
  const parked = admitMany(10_000, 'a').map(({ parkedFor }) => parkedFor);
  // 4.1 s at this scale, and the longest.
  expect(new Set(parked.filter((tier) => tier !== null))).toEqual(new Set([4098, 46658]));
});

test('no task is parked for longer than 66 s', () => {
  failing('dark', 10_000);
  const parked = admitMany(5000, 'dark').map(({ parkedFor }) => parkedFor ?? 0);
  expect(Math.max(...parked)).toBe(66);
});

test('the sender holds no more waiting tasks than its limit', () => {
  build({ waitingMax: 50 });
  for (let i = 0; i < 100; i += 1) admitMany(20, `endpoint ${i}`);
  expect(lanes.counts.waiting).toBeLessThanOrEqual(50);
});

test.each(['rejected', 'busy'] as const)(
  'a receiver whose answers are all %s, and quick, keeps up, also after it was away',
  (result) => {
    const tasks: FakeTask[] = [];
    const play = (ms: number, answer: typeof result | 'failure') => {
      for (const end = clock.now() + ms; clock.now() < end; clock.advance(20)) {
        tasks.push(admit('a'));
        for (const each of inFlight()) if (clock.now() - each.startedAt >= 60) settle(each, answer);
      }
    };
    play(5000, 'failure');
    play(2000, result);
    tasks.length = 0;
    play(30_000, result);
    expect(tasks.filter(({ parkedFor }) => parkedFor !== null)).toEqual([]);
    expect(lanes.counts.waiting).toBeLessThan(4);
  },
);

test('a burst to a receiver that rejects everything quickly is parked for the shortest time, if at all', () => {
  for (let i = 0; i < 20; i += 1) {
    const task = admit('a');
    clock.advance(60);
    settle(task, 'busy');
  }
  const burst = admitMany(600, 'a');
  const tiers = new Set(burst.flatMap(({ parkedFor }) => (parkedFor === null ? [] : [parkedFor])));
  expect([...tiers]).toEqual([3]);
});
