/** Guarantee: one endpoint cannot slow another, however many are dark. */
import { expect, test } from 'vitest';
import { Blame } from '../../../services/sender/blame/blame.ts';
import { LANE_OPTIONS } from '../../../services/sender/lanes/lane-options.ts';
import { Lanes } from '../../../services/sender/lanes/lanes.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { FakeTask } from './fake-task.ts';

const ENDPOINTS = 1000;
const ADMITTED_PER_TICK = 5;
const TICK_MS = 5;
/** No divisor of the number of endpoints: dark and healthy ones alternate. */
const STRIDE = 617;

/** A thread that is never idle: its fast slots are the fewest. */
class BusyClock extends SimulatedClock {
  override idleMs(): number {
    return 0;
  }
}

test.each([
  [0.5, 'idle', new SimulatedClock()],
  [0.9, 'idle', new SimulatedClock()],
  [0.5, 'busy', new BusyClock()],
])(
  'with a share of %d of 1,000 endpoints dark, a healthy endpoint never waits for them; this thread is %s',
  (darkShare, _, clock) => {
    const lanes = new Lanes(clock, new Blame(clock), LANE_OPTIONS);
    const started: FakeTask[] = [];
    const isDark = (id: string) => Number(id) < ENDPOINTS * darkShare;
    let admitted = 0;
    const admit = () => {
      const task = new FakeTask(`${(admitted * STRIDE) % ENDPOINTS}`, `entity ${admitted}`, (each) =>
        started.push(each),
      );
      admitted += 1;
      lanes.admit(task);
      return task;
    };
    const admittedAt = new Map<FakeTask, number>();
    let worstWaitMs = 0;
    for (let tick = 0; tick < 2000; tick += 1) {
      for (let i = 0; i < ADMITTED_PER_TICK; i += 1) admittedAt.set(admit(), clock.now());
      for (const each of started.splice(0)) {
        if (!isDark(each.endpointId)) {
          worstWaitMs = Math.max(worstWaitMs, clock.now() - (admittedAt.get(each) ?? 0));
          clock.at(clock.now() + TICK_MS, () => lanes.settle(each, 'success', null));
        } else clock.at(clock.now() + 10_000, () => lanes.settle(each, 'failure', null));
        admittedAt.delete(each);
      }
      clock.advance(TICK_MS);
    }
    expect(lanes.counts.slow).toBeGreaterThan(400);
    expect(worstWaitMs).toBeLessThanOrEqual(10);
  },
);

test.each([
  ['while nothing else is slow', 0],
  ['while others that are dark have filled the slow lane', 1100],
])('100 endpoints with wide windows that hang all at once do not delay the others %s', (_, dark) => {
  const clock = new SimulatedClock();
  const options = { fastSlots: 1024, slowSlots: 1024, slowSlotsMost: 1536, waitingMax: 1024 };
  const lanes = new Lanes(clock, new Blame(clock), { ...LANE_OPTIONS, ...options });
  let isHanging = false;
  let worstWaitMs = 0;
  let entities = 0;
  let other = 0;
  let [held, heldMost] = [0, 0];
  /** Tasks of others that have not started: when they came. One that was parked stays. */
  const waiting = new Map<FakeTask, number>();
  const admit = (endpointId: string, answerMs: number) => {
    const at = clock.now();
    held += 1;
    heldMost = Math.max(heldMost, held);
    const isOther = endpointId.startsWith('other');
    const task = new FakeTask(endpointId, `entity ${entities++}`, (each) => {
      waiting.delete(each);
      if (isOther) worstWaitMs = Math.max(worstWaitMs, clock.now() - at);
      const hangs = isHanging && !isOther;
      clock.at(clock.now() + (hangs ? 10_000 : answerMs), () => {
        held -= 1;
        lanes.settle(each, hangs ? 'failure' : 'success', null);
      });
    });
    const park = task.park.bind(task);
    task.park = (tier, reason) => {
      held -= 1;
      park(tier, reason);
    };
    if (isOther) waiting.set(task, at);
    lanes.admit(task);
  };
  const ambush = (count: number) => {
    for (let event = 0; event < count; event += 1) {
      for (let endpoint = 0; endpoint < 100; endpoint += 1) admit(`ambush ${endpoint}`, 80);
    }
  };
  const others = (ms: number) => {
    for (let i = 0; i < ms / 10; i += 1) {
      admit(`other ${other++ % 25}`, 35);
      clock.advance(10);
    }
  };
  for (let i = 0; i < 60; i += 1) {
    ambush(1);
    others(50);
  }
  for (let i = 0; i < dark; i += 1) {
    admit(`dark ${i}`, 20_000);
    clock.advance(1);
  }
  isHanging = true;
  worstWaitMs = 0;
  // They come as fast as an intake takes them: what is parked at once would press on nobody.
  for (let i = 0; i < 200; i += 1) {
    ambush(1);
    others(10);
  }
  others(30_000);
  // None was parked, and none waits for longer than the others did.
  expect([...waiting.values()].filter((at) => at < clock.now() - 210)).toEqual([]);
  // Only until the slots that opened for the burst are given back.
  expect(worstWaitMs).toBeLessThanOrEqual(210);
  // What is held is less than what may be: the rest of the intake stays open.
  expect(heldMost).toBeLessThan(4096 - 512);
});
