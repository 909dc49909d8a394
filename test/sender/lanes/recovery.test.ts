/**
 * Guarantee: the recovery of an endpoint that hangs is noticed within a second, new tasks go before waiting ones, and
 * parked tasks come back as fast as the endpoint takes them.
 */
import { beforeEach, expect, test } from 'vitest';
import { Blame } from '../../../services/sender/blame/blame.ts';
import { LANE_OPTIONS } from '../../../services/sender/lanes/lane-options.ts';
import { Lanes } from '../../../services/sender/lanes/lanes.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { FakeTask } from './fake-task.ts';

const TIME_OUT_MS = 10_000;
const ANSWER_MS = 5;

/** One endpoint in simulated time, with a broker that brings parked tasks back when it is asked to. */
class Endpoint {
  readonly clock = new SimulatedClock();
  readonly lanes: Lanes;
  readonly parked: FakeTask[] = [];
  readonly admittedAt = new Map<string, number>();
  readonly deliveredAt = new Map<string, number>();
  readonly tried = new Set<string>();
  isDark = false;
  /** Time until a parked task is durable. Before that, the broker cannot bring it back. */
  durableAfterMs = 0;
  inFlight = 0;
  inFlightMost = 0;
  readonly #notDurable = new Set<FakeTask>();
  #count = 0;

  constructor(canWake: boolean) {
    const wake = (_: string, most: number) => {
      const woken = this.parked.splice(0, most);
      for (const each of woken) this.#admit(each.entityId ?? '', true);
      return Promise.resolve(woken.length);
    };
    this.lanes = new Lanes(this.clock, new Blame(this.clock), LANE_OPTIONS, { wake: canWake ? wake : null });
  }

  /** Admits a steady load for a while; promises settle between steps. */
  async run(ms: number, perSecond: number): Promise<void> {
    const until = this.clock.now() + ms;
    for (let next = this.clock.now(); this.clock.now() < until; next += 1000 / perSecond) {
      this.clock.advance(Math.min(until, next) - this.clock.now());
      await new Promise((resolve) => setImmediate(resolve));
      if (next < until) this.#admit(`entity ${this.#count++}`, false);
    }
  }

  /** Admits the parked tasks that are not durable, as if their own time had come. */
  comeUp(): void {
    for (const { entityId } of this.#notDurable) this.#admit(entityId ?? '', true);
    this.#notDurable.clear();
  }

  latenessSince(since: number): number[] {
    return [...this.admittedAt]
      .filter(([, at]) => at >= since)
      .map(([entity, at]) => (this.deliveredAt.get(entity) ?? Number.POSITIVE_INFINITY) - at);
  }

  #admit(entity: string, isBacklog: boolean): void {
    const { clock, lanes } = this;
    if (!isBacklog) this.admittedAt.set(entity, clock.now());
    const task = new FakeTask('a', entity, (each) => this.#start(each), isBacklog);
    task.park = () => {
      if (this.durableAfterMs === 0) return void this.parked.push(task);
      this.#notDurable.add(task);
      clock.at(clock.now() + this.durableAfterMs, () => {
        if (this.#notDurable.delete(task)) this.parked.push(task);
      });
    };
    lanes.admit(task);
  }

  #start(task: FakeTask): void {
    const { clock, lanes, isDark } = this;
    const entity = task.entityId ?? '';
    this.inFlight += 1;
    this.inFlightMost = Math.max(this.inFlightMost, this.inFlight);
    clock.at(clock.now() + (isDark ? TIME_OUT_MS : ANSWER_MS), () => {
      this.inFlight -= 1;
      if (isDark) this.tried.add(entity);
      else this.deliveredAt.set(entity, clock.now());
      lanes.settle(task, isDark ? 'failure' : 'success', null);
    });
  }
}

let endpoint: Endpoint;
beforeEach(() => {
  endpoint = new Endpoint(true);
});

test.each([
  [24, 5],
  [24, 50],
  [64, 50],
  [604, 50],
])(
  'after an endpoint hung for %d s at %d/s, nothing new is late by a second, and parked tasks are delivered',
  async (seconds, perSecond) => {
    await endpoint.run(3000, perSecond);
    endpoint.isDark = true;
    await endpoint.run(seconds * 1000, perSecond);
    const { inFlightMost } = endpoint;
    const tried = endpoint.tried.size + endpoint.inFlight;
    endpoint.isDark = false;
    const backAt = endpoint.clock.now();
    await endpoint.run(10_000, perSecond);
    endpoint.clock.advance(100);
    expect(Math.max(...endpoint.latenessSince(backAt))).toBeLessThan(1000);
    const missing = [...endpoint.admittedAt.keys()].filter(
      (entity) => !endpoint.deliveredAt.has(entity) && !endpoint.tried.has(entity),
    );
    expect(missing).toEqual([]);
    // About two tries a second, beside what its window took at first: what waits keeps its attempts.
    expect(tried).toBeLessThan(seconds * 2 + 128);
    expect(inFlightMost).toBeLessThanOrEqual(LANE_OPTIONS.windowMax + LANE_OPTIONS.probesMax);
  },
);

test('a hanging endpoint gets one more attempt every half second, up to a limit', async () => {
  endpoint.isDark = true;
  await endpoint.run(9000, 50);
  expect(endpoint.inFlight).toBe(LANE_OPTIONS.windowStart + 1 + 8000 / LANE_OPTIONS.probeEveryMs - 1);
  await endpoint.run(120_000, 50);
  expect(endpoint.inFlightMost).toBeLessThanOrEqual(LANE_OPTIONS.windowStart + LANE_OPTIONS.probesMax);
});

test('when no new task comes, a parked task is used to try a dark endpoint', async () => {
  endpoint.isDark = true;
  await endpoint.run(4000, 50);
  await endpoint.run(60_000, 0.000001);
  const parked = endpoint.parked.length;
  expect(parked).toBeGreaterThan(50);
  endpoint.isDark = false;
  for (let step = 0; step < 40; step += 1) await endpoint.run(50, 0.000001);
  expect(endpoint.parked).toHaveLength(0);
});

test('tasks that are parked while the disk is full are brought back once they are durable', async () => {
  endpoint.durableAfterMs = 30_000;
  endpoint.isDark = true;
  await endpoint.run(20_000, 50);
  const tried = endpoint.tried.size + endpoint.inFlight;
  endpoint.isDark = false;
  await endpoint.run(35_000, 5);
  endpoint.clock.advance(100);
  const missing = [...endpoint.admittedAt.keys()].filter((entity) => !endpoint.deliveredAt.has(entity));
  expect(missing.length).toBeLessThanOrEqual(tried);
});

test('a search that found no parked tasks does not end the search for later ones', async () => {
  endpoint.durableAfterMs = 30_000;
  endpoint.isDark = true;
  await endpoint.run(20_000, 50);
  endpoint.isDark = false;
  await endpoint.run(2000, 5);
  endpoint.comeUp();
  await endpoint.run(120_000, 5);
  endpoint.isDark = true;
  const darkAgainAt = endpoint.clock.now();
  await endpoint.run(20_000, 50);
  endpoint.isDark = false;
  await endpoint.run(35_000, 5);
  endpoint.clock.advance(100);
  const missing = [...endpoint.admittedAt].filter(
    ([entity, at]) => at >= darkAgainAt && !endpoint.deliveredAt.has(entity) && !endpoint.tried.has(entity),
  );
  expect(missing).toEqual([]);
});
