/** The sender has as many attempts in flight as its thread has time for, and silent receivers never hold it up. */
import { beforeEach, describe, expect, test } from 'vitest';
import { FastSlots } from '../../../services/sender/blame/fast-slots.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

/** A thread with a share of its time to spare. */
class BusyClock extends SimulatedClock {
  idleShare = 0;
  #idleMs = 0;
  #asOf = this.now();

  override idleMs(): number {
    this.#idleMs += (this.now() - this.#asOf) * this.idleShare;
    this.#asOf = this.now();
    return this.#idleMs;
  }
}

const LEAST = 32;
const MOST = 2048;
let clock: BusyClock;
let slots: FastSlots;
/** The number of tasks that wait; they take every free slot. */
let wanted: number;
/** When each slot was taken. */
let takenAt: number[];

function takeAll(): void {
  while (wanted > 0 && slots.hasRoom()) {
    slots.take();
    takenAt.push(clock.now());
    wanted -= 1;
  }
}

function free(count: number): void {
  for (let i = 0; i < count; i += 1) slots.free();
  takeAll();
}

/** Frees this many slots in each of this many milliseconds. */
function pass(ms: number, count: number): void {
  for (let passed = 0; passed < ms; passed += 1) {
    clock.advance(1);
    free(Math.min(count, slots.taken));
  }
}

beforeEach(() => {
  clock = new BusyClock();
  takenAt = [];
  const waitingSince = (at: number) => takenAt.slice(-slots.taken).filter((each) => each <= at).length;
  slots = new FastSlots(clock, { least: LEAST, most: MOST }, waitingSince, takeAll);
  wanted = 1_000_000;
});

describe('a busy thread', () => {
  test('has the fewest fast slots, however many tasks wait', () => {
    takeAll();
    pass(1000, 4);
    expect(slots.taken).toBe(LEAST);
  });

  test('comes back to the fewest fast slots after it had idle time', () => {
    clock.idleShare = 1;
    takeAll();
    clock.advance(1000);
    expect(slots.taken).toBe(MOST);
    clock.idleShare = 0.1;
    pass(1000, 100);
    expect(slots.taken).toBe(LEAST);
  });

  test('has more fast slots when none is given back, because it waits for receivers', () => {
    clock.idleShare = 0.01;
    takeAll();
    clock.advance(50);
    expect(slots.taken).toBe(MOST);
  });
});

test.each([
  [0.9, 50],
  [0.5, 300],
])('a thread that is idle for a share of %d has all fast slots within %d ms', (idleShare, withinMs) => {
  clock.idleShare = idleShare;
  takeAll();
  expect(slots.taken).toBe(LEAST);
  pass(withinMs, 4);
  expect(slots.taken).toBe(MOST);
});

test('the number of fast slots is not adjusted while no task waits', () => {
  clock.idleShare = 1;
  wanted = LEAST;
  takeAll();
  clock.advance(1000);
  wanted = 1;
  expect(slots.hasRoom()).toBe(false);
  clock.advance(10);
  expect(slots.taken).toBe(LEAST + 1);
});
