import type { Clock } from '../../services/process/clock.ts';

/** A clock that stands still until it is told to go on. Timers fire in due order, each at its own due time. */
export class SimulatedClock implements Clock {
  #now: number;
  #timers: { readonly due: number; readonly callback: () => void }[] = [];

  constructor(startAt = Date.UTC(2030, 0, 1)) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  /** How far the system's time is ahead of `now()`. */
  setBy = 0;

  wall(at = this.#now): number {
    return at + this.setBy;
  }

  /** What takes simulated time takes none of the thread's. */
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

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const cancel = this.at(this.#now + ms, resolve);
      signal?.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
  }

  /** Stands still for a while, as a process that was stopped does, and goes on: what fell due meanwhile fires late. */
  holdUp(ms: number): void {
    this.#now += ms;
    this.advance(0);
  }

  /** Moves time forward, firing what becomes due on the way. */
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
