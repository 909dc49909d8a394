import type { Clock } from '../../services/process/clock.ts';

/** A clock that stands still until `advance` is called. Timers fire in due order, each at its own due time. */
export class SimulatedClock implements Clock {
  #now: number;
  #timers: { readonly due: number; readonly callback: () => void }[] = [];

  constructor(startAt = Date.UTC(2030, 0, 1)) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  /** The offset of the wall clock from `now()`, milliseconds. */
  setBy = 0;

  wall(at = this.#now): number {
    return at + this.setBy;
  }

  system(wall: number): number {
    return wall;
  }

  /** Simulated time uses no time of the thread, so all of it is idle. */
  idleMs(): number {
    return this.#now;
  }

  at(at: number, callback: () => void): () => void {
    const timer = { due: at, callback };
    this.#timers.push(timer);
    this.#timers.sort((one, other) => one.due - other.due);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  /** The number of calls of `sleep` that have not ended. */
  asleep = 0;

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      this.asleep += 1;
      const done = () => {
        this.asleep -= 1;
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.at(this.#now + ms, done);
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  /** Simulates a suspended process: time passes, then all timers that became due meanwhile fire late. */
  holdUp(ms: number): void {
    this.#now += ms;
    this.advance(0);
  }

  /** Moves time forward and fires each timer that becomes due on the way. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const next = this.#timers[0];
      if (!next || next.due > until) break;
      this.#timers.shift();
      this.#now = Math.max(this.#now, next.due);
      next.callback();
    }
    this.#now = until;
  }
}
