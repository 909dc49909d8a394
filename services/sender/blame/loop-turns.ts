import type { Clock } from '../../process/clock.ts';

/** A thread that was idle for longer found nothing to read when it began to wait. */
const IDLE_MS_MIN = 0.2;

/**
 * Knows up to which moment this process has read what had arrived for it. In each turn the event loop asks the kernel
 * once what has arrived, and then handles it piece by piece: something that is handled now may have arrived long before,
 * at any time since the loop asked in the turn before, or since it began to wait. A receiver must not be blamed for that
 * time.
 */
export class LoopTurns {
  readonly #clock: Pick<Clock, 'now' | 'idleMs'>;
  readonly #afterTurn: (callback: () => void) => void;
  #caughtUpAt: number;
  /** When the loop asked what had arrived in the last turn that had any, at the earliest. */
  #askedAt: number;
  #isInTurn = false;
  /** The end of that turn, and the thread's idle time then. */
  #endedAt: number;
  #idleMs: number;

  /** `afterTurn`: calls back once everything that has arrived is handled; `setImmediate`. */
  constructor(
    clock: Pick<Clock, 'now' | 'idleMs'>,
    afterTurn: (callback: () => void) => void = (callback) => void setImmediate(callback),
  ) {
    this.#clock = clock;
    this.#afterTurn = afterTurn;
    this.#endedAt = clock.now();
    this.#idleMs = clock.idleMs();
    this.#askedAt = this.#endedAt;
    this.#caughtUpAt = this.#endedAt;
  }

  now(): number {
    return this.#clock.now();
  }

  /**
   * Returns a moment, by the clock's `now()`, by which what is handled now had certainly not arrived. Call it while
   * handling something that has arrived.
   */
  caughtUpAt(): number {
    if (this.#isInTurn) return this.#caughtUpAt;
    this.#isInTurn = true;
    const idleMs = this.#clock.idleMs() - this.#idleMs;
    const hasWaited = idleMs > IDLE_MS_MIN;
    const askedAt = hasWaited ? this.#endedAt + idleMs : this.#endedAt;
    // After a wait, what has arrived ended it. Otherwise it may have arrived while the last turn was handled.
    this.#caughtUpAt = hasWaited ? askedAt : this.#askedAt;
    this.#askedAt = askedAt;
    this.#afterTurn(() => {
      this.#isInTurn = false;
      this.#endedAt = this.#clock.now();
      this.#idleMs = this.#clock.idleMs();
    });
    return this.#caughtUpAt;
  }
}
