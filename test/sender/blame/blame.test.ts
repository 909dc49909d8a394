/** The example of the page on lanes, played: how long did the receiver take, and may it be blamed? */
import { beforeEach, describe, expect, test } from 'vitest';
import { type AttemptTime, Blame, Deadlines, type LaneBlame } from '../../../services/sender/blame/blame.ts';
import { Lateness } from '../../../services/sender/blame/lateness.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

interface Attempt {
  readonly time: AttemptTime<Attempt>;
}

/** A thread that is idle unless it is busy. */
class Thread extends SimulatedClock {
  #busyMs = 0;

  busy(ms: number): void {
    this.#busyMs += ms;
    this.holdUp(ms);
  }

  override idleMs(): number {
    return this.now() - this.#busyMs;
  }
}

const TIME_OUT_MS = 10_000;

let thread: Thread;
let startedAt: number;
let ends: (() => void)[];
let lateness: Lateness;
let blame: Blame;
let lanes: LaneBlame<Attempt>;
/** When attempts were demoted, since the start. */
let demoted: number[];
/** Connections opened so far. */
let opened: number;

const now = () => thread.now() - startedAt;
const endTurn = () => {
  for (const each of ends.splice(0)) each();
};
/** The thread is idle until then. */
const until = (ms: number) => {
  endTurn();
  thread.advance(ms - now());
};
function start(): Attempt {
  const attempt = {} as { time: AttemptTime<Attempt> };
  attempt.time = blame.timeOf<Attempt>(attempt);
  lanes.started(attempt, thread.now());
  return attempt;
}

beforeEach(() => {
  thread = new Thread();
  startedAt = thread.now();
  ends = [];
  demoted = [];
  opened = 0;
  lateness = new Lateness(thread);
  blame = new Blame(thread, (callback) => void ends.push(callback), lateness);
  const limits = { demoteAfterMs: 200, darkEveryMs: 4, fastSlots: 100, fastSlotsLeast: 32 };
  lanes = blame.ofLanes(
    { ...limits, opened: () => opened },
    { demote: () => demoted.push(now()), isFast: () => true, more: () => {} },
  );
  blame.watch(() => true);
});

/** Plays the example up to the first response, which is read at 720 ms. */
function playFirst(): Attempt {
  const first = start();
  first.time.held();
  until(300);
  first.time.carried();
  until(360);
  first.time.stepped();
  until(420);
  first.time.stepped();
  return first;
}

describe('a response that waits on a busy thread', () => {
  test('is its receiver’s time only up to when the thread last asked what had arrived', () => {
    const first = playFirst();
    expect(first.time.receiverMs).toBe(120);
    until(470);
    // Something else has arrived, which keeps the thread busy.
    blame.timeOf(null).stepped();
    thread.busy(250);
    endTurn();
    first.time.answered();
    expect([now(), lanes.ended(first, thread.now(), first.time.receiverMs)]).toEqual([720, 170]);
    until(1000);
    expect(demoted).toEqual([]);
  });

  test('costs its attempt the fast lane when it does not come', () => {
    playFirst();
    until(470);
    thread.busy(250);
    until(1000);
    expect(demoted).toEqual([721]);
  });
});

describe('an endpoint that dies while the process is stopped', () => {
  /** Plays from the first response on: the second request is sent at 770 ms, the process is stopped from 800 ms on. */
  function playSecond() {
    const timedOut: number[] = [];
    const timeOuts = new Deadlines<Attempt>(
      thread,
      { aheadMs: TIME_OUT_MS, whenLate: 'extend' },
      () => void timedOut.push(now()),
    );
    const endpoint = lanes.silence();
    until(470);
    thread.busy(250);
    endpoint.heard(thread.now());
    until(770);
    const second = start();
    second.time.carried();
    timeOuts.add(second, thread.now());
    until(800);
    thread.holdUp(500);
    return { endpoint, timedOut };
  }

  test('is excused until its silence is its own doing', () => {
    const { endpoint } = playSecond();
    expect(lateness.share).toBeCloseTo(0.57, 2);
    until(1301);
    expect(demoted).toEqual([1301]);
    expect(endpoint.ms(thread.now())).toBe(581);
    const excused = [1301, 1489, 1490].map((ms) => {
      until(ms);
      return endpoint.isExcused(thread.now());
    });
    expect(excused).toEqual([true, true, false]);
  });

  test('gets its whole time-out, without the time in which the process was stopped', () => {
    const { timedOut } = playSecond();
    until(20_000);
    expect(timedOut).toEqual([11_200]);
  });

  test('waits for a connection in turn with the others that died', () => {
    const startsAt: number[] = [];
    const begin = () => {
      opened += 1;
      startsAt.push(now());
    };
    for (; startsAt.length < 100; until(now() + 1)) {
      if (lanes.handshakes.hasRoom(true)) lanes.handshakes.start({ start: begin }, true);
    }
    expect(startsAt.at(-1)).toBe(396);
  });
});
