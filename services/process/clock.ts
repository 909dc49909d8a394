import { performance } from 'node:perf_hooks';

/**
 * Time is injected: nothing outside services/process reads a clock or sets a timer.
 *
 * `now()` is monotonic and ignores changes of the system's time: use it for due times, time-outs, pauses, intervals and
 * ages within this process. `wall()` follows the system's time: use it for times that are published or stored
 * (webhook-timestamp, the journal, created_at, expiries), and compare those with `wall()` only. The two agree from the
 * start of the process until the system's time is set, so setting it neither fires nor delays scheduled work.
 */
export interface Clock {
  /**
   * Milliseconds since the epoch as of the start of the process, plus the time passed since; with fractions,
   * monotonic.
   */
  now(): number;
  /** The system's time, milliseconds since the epoch, at a moment of `now()`; the present one by default. */
  wall(at?: number): number;
  /**
   * The system's time at a moment of `wall()`: the same, but for a sandbox whose clock was moved on. For times that others
   * compare with their own clocks: webhook-timestamp, Retry-After, the ends of certificates.
   */
  system(wall: number): number;
  /** Milliseconds that this thread has been idle, in all. */
  idleMs(): number;
  /** Resolves after at least `ms`, or as soon as the signal fires (it does not reject). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls back once, at or after `at` (milliseconds since the epoch, never earlier). Returns a function that cancels
   * it.
   */
  at(at: number, callback: () => void): () => void;
}

/** setTimeout takes at most 2^31 − 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The smallest difference that counts as a change of the system's time: `Date.now` has whole milliseconds only. */
const SET_MS_MIN = 100;

/** The system's clock. */
export function systemClock(): Clock {
  const anchor = Date.now() - performance.now();
  const now = () => anchor + performance.now();
  /** The total by which the system's time was set since the start; a suspended machine counts as one that was set. */
  let setBy = 0;
  const wall = (at?: number) => {
    const present = now();
    const difference = Date.now() - present;
    if (Math.abs(difference - setBy) > SET_MS_MIN) setBy = difference;
    return (at ?? present) + setBy;
  };
  const at = (due: number, callback: () => void): (() => void) => {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const wait = due - now();
      if (wait <= 0) timer = setTimeout(callback, 0);
      else timer = setTimeout(fire, Math.min(Math.ceil(wait), TIMER_MS_MAX));
    };
    // Node may fire a timer a fraction of a millisecond early: check again before calling back.
    const fire = () => (now() >= due ? callback() : arm());
    arm();
    return () => clearTimeout(timer);
  };
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = at(now() + ms, done);
      signal?.addEventListener('abort', done, { once: true });
    });
  const system = (time: number) => time;
  return { now, wall, system, idleMs: () => performance.nodeTiming.idleTime, sleep, at };
}
