/**
 * Guarantee: an endpoint with a limit of its own gets no more requests in any second, steadily and in order; what waits
 * costs no attempt and delays nobody else.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { EndpointPace } from '../../../services/sender/lanes/paces.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { mostInASecond, outOfOrder, PacedBench, type Start } from './paced-bench.ts';

let bench: PacedBench;
beforeEach(() => {
  bench = new PacedBench({ canWake: true });
});

/** Events of a few entities in turn, accepted in this order. */
function burst(count: number, endpointId = 'a', entities = 5): void {
  for (let sequence = 1; sequence <= count; sequence += 1)
    bench.admit({ endpointId, entityId: `entity ${sequence % entities}`, sequence });
}

const gaps = (starts: readonly Start[]) => starts.slice(1).map(({ at }, i) => at - (starts[i]?.at ?? 0));

test('500 events at once to an endpoint with 10 a second arrive one every 101 ms, in order', async () => {
  bench.rates.set('a', 10);
  burst(500);
  await bench.run(51_000, 1);
  expect(bench.starts).toHaveLength(500);
  expect(mostInASecond(bench.starts)).toBe(10);
  expect(Math.min(...gaps(bench.starts).slice(1))).toBeGreaterThanOrEqual(100);
  expect(Math.max(...gaps(bench.starts))).toBeLessThanOrEqual(102);
  expect(outOfOrder(bench.starts)).toEqual([]);
});

test('the tasks that wait are parked because of the limit, and the next few stay in memory', () => {
  bench.rates.set('a', 10);
  burst(500);
  expect(bench.lanes().counts).toMatchObject({ fast: 1, waiting: 30 });
  expect(bench.parked).toHaveLength(469);
  expect(new Set(bench.parked.map(({ parkedBecause }) => parkedBecause))).toEqual(
    new Set(['rate_limited_here']),
  );
});

test('where parked tasks come back only when they are due, the limit and the order hold, and all arrive', async () => {
  bench = new PacedBench({ canWake: false });
  bench.rates.set('a', 10);
  burst(500);
  await bench.run(60_000);
  expect(bench.starts).toHaveLength(500);
  expect(mostInASecond(bench.starts)).toBeLessThanOrEqual(10);
  expect(outOfOrder(bench.starts)).toEqual([]);
});

test('a later event of an entity does not overtake one that is parked', async () => {
  bench.rates.set('a', 1);
  burst(30, 'a', 30);
  const [parked] = bench.parked;
  await bench.run(3000);
  bench.admit({ endpointId: 'a', entityId: parked?.entityId ?? '', sequence: 1000 });
  bench.rates.set('a', 1000);
  await bench.run(80_000);
  expect(bench.starts).toHaveLength(31);
  expect(outOfOrder(bench.starts)).toEqual([]);
});

test('an endpoint with a limit holds up neither the intake nor the others', async () => {
  bench.rates.set('a', 1);
  burst(500);
  expect(bench.lanes().waitingForUs).toBe(0);
  for (let i = 0; i < 100; i += 1) {
    bench.admit({ endpointId: 'b', entityId: `entity ${i}`, sequence: i });
    expect(bench.starts.at(-1)).toMatchObject({ endpointId: 'b', at: bench.clock.now() });
    await bench.run(10);
  }
});

test('an endpoint that is idle gets its first request at once, and no burst after a rest', async () => {
  bench.rates.set('a', 10);
  await bench.run(5000);
  burst(2);
  expect(bench.starts).toHaveLength(1);
  await bench.run(1000, 1);
  expect(gaps(bench.starts)).toEqual([91]);
});

describe('a limit that is changed while tasks wait', () => {
  beforeEach(async () => {
    bench.rates.set('a', 1);
    burst(200);
    await bench.run(3000);
    expect(bench.starts).toHaveLength(3);
  });

  test('holds within a second when it is raised', async () => {
    bench.rates.set('a', 50);
    await bench.run(5000, 1);
    expect(bench.starts).toHaveLength(200);
    expect(mostInASecond(bench.starts)).toBeLessThanOrEqual(50);
  });

  test('ends within a second when there is none any more', async () => {
    bench.rates.delete('a');
    await bench.run(5000);
    expect(bench.starts).toHaveLength(200);
    expect(outOfOrder(bench.starts)).toEqual([]);
  });
});

test('tasks that are cancelled because their endpoint was switched off use up no time of the limit', async () => {
  bench.rates.set('a', 1);
  burst(100);
  bench.ending = 'uncounted';
  await bench.run(10_000);
  expect(bench.starts).toHaveLength(100);
});

test('tests, live tasks and replays share one limit, tests first and replays with a part of it', async () => {
  bench.rates.set('a', 20);
  for (const taskClass of ['live', 'replay', 'test'] as const)
    for (let i = 0; i < 60; i += 1)
      bench.admit({ endpointId: 'a', entityId: `${taskClass} ${i}`, sequence: i }, taskClass);
  await bench.run(4000, 1);
  expect(mostInASecond(bench.starts)).toBeLessThanOrEqual(20);
  const of = (taskClass: string) => bench.starts.filter((each) => each.taskClass === taskClass).length;
  expect(of('test')).toBeGreaterThan(50);
  expect(of('replay')).toBeGreaterThan(10);
  await bench.run(10_000);
  expect(bench.starts).toHaveLength(180);
});

test('first attempts to an endpoint with a limit are not taken from where no other sender sees them', () => {
  expect(bench.lanes().isPrompt('a')).toBe(true);
  bench.rates.set('a', 1000);
  expect(bench.lanes().isPrompt('a')).toBe(false);
  expect(bench.lanes().isPrompt('b')).toBe(true);
});

describe.each([1, 3, 10, 99, 1000])('a pace of %i requests per second', (rate) => {
  test('is never exceeded in any second, however late the timers are, and is nearly reached when they are on time', () => {
    const clock = new SimulatedClock();
    const pace = new EndpointPace(clock, rate);
    const starts: { at: number }[] = [];
    const turn = () => {
      const now = clock.now();
      while (pace.mayStart('live', turn, now)) {
        pace.started({}, now);
        starts.push({ at: now });
      }
    };
    turn();
    let random = 1;
    for (let step = 0; step < 4000; step += 1) {
      random = (random * 48_271) % 2_147_483_647;
      if (random % 10 === 0) clock.holdUp(random % 40);
      else clock.advance(random % 4);
    }
    expect(mostInASecond(starts)).toBeLessThanOrEqual(rate);
    starts.length = 0;
    const from = clock.now();
    for (let step = 0; step < 10_000; step += 1) clock.advance(1);
    expect(starts.length).toBeGreaterThanOrEqual(Math.floor(((clock.now() - from) / 1000) * rate * 0.98));
  });
});
