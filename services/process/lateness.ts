import type { Clock } from './clock.ts';

const EVERY_MS = 50;
/** A timer is not exact, and the end of a turn is waited for: this much is not late. */
const TOLERATED_MS = 10;
/** Lateness is forgotten over this time. */
const REMEMBERED_MS = 1000;

/**
 * How late this process is, whatever the reason: its event loop is busy, it was stopped, or other processes have the
 * CPU. Measured by a timer that fires late.
 */
export class Lateness {
  readonly #clock: Clock;
  #share = 0;
  #cancel: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): void {
    const dueAt = this.#clock.now() + EVERY_MS;
    this.#cancel = this.#clock.at(dueAt, () => {
      this.#note(Math.max(0, this.#clock.now() - dueAt - TOLERATED_MS));
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }

  /** The share of the last second in which it was late, 0 to 1. */
  get share(): number {
    return this.#share;
  }

  #note(lateMs: number): void {
    const periodMs = EVERY_MS + lateMs;
    const weight = Math.min(1, periodMs / REMEMBERED_MS);
    this.#share += weight * (lateMs / periodMs - this.#share);
  }
}
