import { performance } from 'node:perf_hooks';

/** Time is injected: nothing outside runtime reads a clock or sets a timer. */
export interface Clock {
  /** Milliseconds since the epoch, with fractions; never goes backwards within a process. */
  now(): number;
  /** Milliseconds that this thread has had nothing to do, in all. */
  idleMs(): number;
  /** Resolves after at least `ms`, or as soon as the signal fires (it does not reject). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once, at or after `at` (milliseconds since the epoch, never earlier). Answers a cancel. */
  at(at: number, callback: () => void): () => void;
}

/** setTimeout takes at most 2^31 − 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * The system's clock: monotonic, anchored once to the wall clock, so that a jump of the wall clock under a running
 * process neither fires retries early nor holds them back.
 */
export function systemClock(): Clock {
  const anchor = Date.now() - performance.now();
  const now = () => anchor + performance.now();
  const at = (due: number, callback: () => void): (() => void) => {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const wait = due - now();
      if (wait <= 0) timer = setTimeout(callback, 0);
      else timer = setTimeout(fire, Math.min(Math.ceil(wait), TIMER_MS_MAX));
    };
    // Node may fire a timer a fraction of a millisecond early: look again before calling back.
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
  return { now, idleMs: () => performance.nodeTiming.idleTime, sleep, at };
}
