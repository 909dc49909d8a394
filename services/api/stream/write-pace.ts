import type { Clock } from '../../process/clock.ts';

/** The time between two writes. */
const MS_PER_WRITE = 2;
/** After a pause, the writes of this many milliseconds may go at once. */
const BURST_MS = 5;

/**
 * Spreads the writes to all open streams of this process: 500 a second. What is added while a stream waits for its
 * turn is written together, so many streams delay one another, and not the deliveries.
 */
export class WritePace {
  readonly #clock: Clock;
  #nextAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when it is the turn of one more write, or when the signal fires. Turns come in the order of the calls. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const at = Math.max(this.#nextAt, now - BURST_MS);
    this.#nextAt = at + MS_PER_WRITE;
    if (at > now) await this.#clock.sleep(at - now, signal);
  }
}
