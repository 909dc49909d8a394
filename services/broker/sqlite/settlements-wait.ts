import type { Clock } from '../../process/clock.ts';

/**
 * How long settlements wait for a publication to be committed with, and how many at the most: a commit of their own would
 * double what an event costs. A crash repeats what waits.
 */
export const SETTLEMENTS_WAIT_MS = 100;
export const SETTLEMENTS_WAIT_MAX = 256;

/** Decides how long settlements wait for a publication. */
export class SettlementsWait {
  readonly #clock: Clock;
  /** Called when they have waited long enough. */
  readonly #ended: () => void;
  #isAwaited = false;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, ended: () => void) {
    this.#clock = clock;
    this.#ended = ended;
  }

  /** Somebody waits for them. */
  hurry(): void {
    this.#isAwaited = true;
  }

  /** Returns whether so many settlements may wait; if so, the wait begins. `retryAt`: when the first of their retries is due. */
  waits(count: number, retryAt: number): boolean {
    const now = this.#clock.now();
    if (this.#isAwaited || count >= SETTLEMENTS_WAIT_MAX) return false;
    // A retry is handed over once it is committed.
    if (retryAt <= now + 2 * SETTLEMENTS_WAIT_MS) return false;
    if (count > 0) this.#cancel ??= this.#clock.at(now + SETTLEMENTS_WAIT_MS, this.#ended);
    return true;
  }

  /** They are being committed. */
  end(): void {
    this.#isAwaited = false;
    this.#cancel?.();
    this.#cancel = null;
  }
}
