/**
 * Guarantee: one endpoint cannot slow another. An attempt that takes longer than 200 ms gives its fast slot back, a
 * failing endpoint gets fewer attempts at once, tasks that it cannot take are parked, and first attempts of one
 * entity to one endpoint leave one after the other.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import type { FakeTask } from './fake-task.ts';
import { type BenchOptions, laneBench } from './lane-bench.ts';

/** An attempt turns slow after 200 ms and the turn in which everything that had arrived is read. */
const DEMOTED_MS = 201;

let { clock, lanes, started, admit, admitMany, settle, inFlight } = laneBench();
function build(options: BenchOptions = {}): void {
  ({ clock, lanes, started, admit, admitMany, settle, inFlight } = laneBench(options));
}
beforeEach(() => build());

describe('the window of an endpoint', () => {
  test('starts at four and grows by one per success, up to its limit', () => {
    build({ windowMax: 6 });
    admitMany(20, 'a');
    expect(inFlight()).toHaveLength(4);
    settle(inFlight()[0]);
    expect(inFlight()).toHaveLength(5);
    settle(inFlight()[0]);
    settle(inFlight()[0]);
    settle(inFlight()[0]);
    expect(inFlight()).toHaveLength(6);
  });

  test('is halved by a failure, and never closes', () => {
    admitMany(20, 'a');
    for (let i = 0; i < 3; i += 1) settle(inFlight()[0], 'failure');
    expect(inFlight()).toHaveLength(1);
    settle(inFlight()[0], 'failure');
    expect(inFlight()).toHaveLength(1);
  });

  test('grows by one for each quick rejection, also after failures', () => {
    admitMany(40, 'a');
    for (let i = 0; i < 3; i += 1) settle(inFlight()[0], 'failure');
    expect(inFlight()).toHaveLength(1);
    for (let i = 0; i < 9; i += 1) settle(inFlight()[0], 'rejected');
    expect(inFlight()).toHaveLength(10);
  });

  test('shrinks by one for each slow rejection, down to where it started', () => {
    admitMany(60, 'a');
    for (let i = 0; i < 3; i += 1) settle(inFlight()[0]);
    expect(inFlight()).toHaveLength(7);
    clock.advance(DEMOTED_MS);
    settle(inFlight()[0], 'rejected');
    expect(inFlight()).toHaveLength(6);
    for (let i = 0; i < 9; i += 1) {
      clock.advance(DEMOTED_MS);
      settle(inFlight()[0], 'rejected');
    }
    expect(inFlight()).toHaveLength(4);
  });

  test.each(['wide', 'narrow'])('that is %s returns to where it started by quick answers of 429', (width) => {
    admitMany(60, 'a');
    for (let i = 0; i < 3; i += 1) settle(inFlight()[0], width === 'wide' ? 'success' : 'failure');
    expect(inFlight()).toHaveLength(width === 'wide' ? 7 : 1);
    for (let i = 0; i < 5; i += 1) settle(inFlight()[0], 'busy');
    expect(inFlight()).toHaveLength(4);
  });

  test('is not changed by an uncounted attempt', () => {
    admitMany(20, 'a');
    settle(inFlight()[0], 'uncounted');
    expect(inFlight()).toHaveLength(4);
  });

  test('is one while the receiver asked for time by Retry-After, for a minute at most', () => {
    admitMany(20, 'a');
    settle(inFlight()[0], 'failure', 3_600_000);
    while (inFlight().length > 1) settle(inFlight()[0]);
    settle(inFlight()[0]);
    expect(inFlight()).toHaveLength(1);
    clock.advance(60_000);
    settle(inFlight()[0]);
    expect(inFlight().length).toBeGreaterThan(1);
  });
});

describe('the slow lane', () => {
  test('takes over an attempt after 200 ms, and another endpoint gets its fast slot', () => {
    build({ fastSlots: 4 });
    admitMany(4, 'dark');
    const healthy = admit('healthy');
    clock.advance(199);
    expect(healthy.place).toBe('waiting');
    clock.advance(2);
    expect(healthy.place).toBe('fast');
    expect(lanes.counts).toMatchObject({ fast: 1, slow: 4, demoted: 4 });
  });

  test('tells an attempt that it was demoted, and not before', () => {
    const quick = admit('a');
    const slow = admit('b');
    clock.advance(199);
    settle(quick);
    clock.advance(2);
    expect([quick.hasTurnedSlow, slow.hasTurnedSlow]).toEqual([false, true]);
  });

  test('counts from our last step: while a connection is being opened, each step of the receiver has its time', () => {
    const task = admit('a');
    clock.advance(150);
    task.time.goesOn();
    clock.advance(199);
    expect(task.hasTurnedSlow).toBe(false);
    clock.advance(2);
    expect(task.hasTurnedSlow).toBe(true);
    // It is slow now, whatever comes after.
    task.time.goesOn();
    lanes.settle(task, 'success', null, 10);
    expect(admit('a').place).toBe('slow');
  });

  test('does not blame an endpoint for an attempt that cannot begin yet', () => {
    const task = admit('a');
    task.time.held();
    clock.advance(10_000);
    expect(task.hasTurnedSlow).toBe(false);
    task.time.goesOn();
    clock.advance(199);
    expect(task.hasTurnedSlow).toBe(false);
    clock.advance(2);
    expect(task.hasTurnedSlow).toBe(true);
  });

  test('does not blame an endpoint for the time in which its response was not read', () => {
    build({ windowStart: 1, windowMax: 2 });
    admitMany(3, 'a');
    for (let i = 0; i < 3; i += 1) {
      clock.advance(90);
      // More than 40 ms at its widest window would be the endpoint's own pace, for which nothing else waits.
      lanes.settle(inFlight()[0] as FakeTask, 'success', null, 5);
      admit('a');
    }
    expect(lanes.waitingForUs).toBe(1);
  });

  test('holds back the intake instead of judging endpoints that answer, while this process is late', () => {
    let isLate = false;
    build({ windowStart: 1, windowMax: 2, lateness: { isLate: () => isLate } });
    const slowly = () => {
      clock.advance(90);
      lanes.settle(inFlight()[0] as FakeTask, 'success', null, 90);
      admit('a');
    };
    admitMany(3, 'a');
    for (let i = 0; i < 3; i += 1) slowly();
    expect(lanes.waitingForUs).toBe(0);
    isLate = true;
    slowly();
    expect(lanes.waitingForUs).toBe(1);
    settle(inFlight()[0], 'failure');
    expect(lanes.waitingForUs).toBe(0);
  });

  test('takes no attempt that is answered in time', () => {
    const quick = admit('a');
    clock.advance(150);
    settle(quick);
    clock.advance(1000);
    expect(lanes.counts).toMatchObject({ fast: 0, slow: 0, demoted: 0 });
  });

  test('gives an endpoint known to be slow no fast slot, and only its share once half of the slow slots are taken', () => {
    build({ slowPerEndpointMax: 6, windowStart: 16, slowSlots: 12 });
    admitMany(6, 'dark');
    clock.advance(DEMOTED_MS);
    admitMany(5, 'dark');
    expect(lanes.counts).toMatchObject({ fast: 0, slow: 6 });
    settle(started[0], 'uncounted');
    expect(lanes.counts).toMatchObject({ fast: 0, slow: 6 });
  });

  test('lets a slow endpoint use its whole window while the lane is nearly empty', () => {
    build({ slowPerEndpointMax: 6, windowStart: 16, slowSlots: 100 });
    admitMany(6, 'slow');
    clock.advance(DEMOTED_MS);
    admitMany(20, 'slow');
    expect(lanes.counts).toMatchObject({ fast: 0, slow: 16 });
  });

  test('gives an endpoint back to the fast lane once it is quick again', () => {
    const [one] = admitMany(1, 'a');
    clock.advance(300);
    settle(one);
    const next = admit('a');
    expect(next.place).toBe('slow');
    settle(next);
    expect(admit('a').place).toBe('fast');
  });

  test('when full, takes an overdue attempt as soon as there is room', () => {
    build({ slowSlots: 1, slowSlotsMost: 1, fastSlots: 8 });
    const one = admit('a');
    admit('b');
    clock.advance(DEMOTED_MS);
    expect(lanes.counts).toMatchObject({ fast: 1, slow: 1 });
    settle(one);
    expect(lanes.counts).toMatchObject({ fast: 0, slow: 1 });
  });
});

describe('the lanes', () => {
  test('give endpoints one fast slot each in turn, whoever has most tasks waiting', () => {
    build({ fastSlots: 1 });
    const first = admit('first');
    const burst = admitMany(3, 'burst');
    const others = ['b', 'c'].map((id) => admit(id));
    for (let last: FakeTask | undefined = first; last; last = inFlight()[0]) settle(last);
    expect(started).toEqual([first, burst[0], ...others, burst[1], burst[2]]);
  });

  test('do not treat a hanging endpoint as healthy because of earlier quick answers', () => {
    build({ slowSlots: 16, windowStart: 16 });
    const hanging = admitMany(10, 'a');
    clock.advance(150);
    settle(admit('a'));
    clock.advance(DEMOTED_MS - 150);
    expect(hanging.map(({ place }) => place)).toEqual(Array(10).fill('slow'));
    // More than half of the slow lane is taken, and less than the three quarters that one that answers may have.
    expect(admit('a').place).toBe('waiting');
  });
});

describe('the order of attempts', () => {
  test('lets first attempts of one entity leave one after the other, and others do not wait', () => {
    const first = admit('a', 'e');
    const second = admit('a', 'e');
    const third = admit('a', 'e');
    const other = admit('a', 'f');
    const elsewhere = admit('b', 'e');
    expect([first, second, third, other, elsewhere].map(({ starts }) => starts)).toEqual([1, 0, 0, 1, 1]);
    settle(first);
    expect([second.starts, third.starts]).toEqual([1, 0]);
    clock.advance(DEMOTED_MS);
    // Demoted: a slow response does not hold the entity back.
    expect(third.starts).toBe(1);
    settle(second);
    expect(third.starts).toBe(1);
  });

  test('does not apply to retries', () => {
    admit('a', 'e');
    expect([admit('a', null).starts, admit('a', null).starts]).toEqual([1, 1]);
  });
});

test('the number of idle endpoints that the lanes remember is bounded', () => {
  build({ endpointsMax: 10 });
  for (let i = 0; i < 100; i += 1) settle(admit(`endpoint ${i}`));
  expect(lanes.counts.endpoints).toBeLessThanOrEqual(11);
});
