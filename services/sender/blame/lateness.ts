import type { Clock } from '../../process/clock.ts';
import type { OwnLateness } from './silence.ts';

const EVERY_MS = 50;
/** A timer is not exact, and the end of a turn is waited for: this much is not late. */
const TOLERATED_MS = 10;
/** Lateness is forgotten over this time. */
const REMEMBERED_MS = 1000;
/** Above this share of the last second, this process is too late to judge receivers. */
const LATE_SHARE = 0.2;

/**
 * How late this process is, whatever the reason: its event loop is busy, it was stopped, or other processes have the
 * CPU. Measured by a timer that fires late, while there is work.
 */
export class Lateness implements OwnLateness {
  readonly #clock: Clock;
  #share = 0;
  #isWatching = false;
  #lateMs = 0;
  /** When the timer is due; infinite while there is none. */
  #dueAt = Number.POSITIVE_INFINITY;
  #endedAt: number;
  #cancel: () => void = () => {};
  #hasWork: () => boolean = () => false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endedAt = clock.now();
  }

  /** Call when work begins: it watches for as long as `hasWork` says so. */
  watch(hasWork: () => boolean): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#hasWork = hasWork;
    this.#note(0, this.#clock.now() - this.#endedAt);
    this.#wait();
  }

  stop(): void {
    this.#cancel();
  }

  /** The share of the last second in which it was late, 0 to 1. */
  get share(): number {
    return this.#share;
  }

  get isLate(): boolean {
    return this.#share > LATE_SHARE;
  }

  /** The milliseconds in which it was late so far, those of a hold-up that has just ended included. */
  get lateMs(): number {
    return this.#lateMs + this.#overdueMs();
  }

  #overdueMs(): number {
    return Math.max(0, this.#clock.now() - this.#dueAt - TOLERATED_MS);
  }

  #wait(): void {
    const dueAt = this.#clock.now() + EVERY_MS;
    this.#dueAt = dueAt;
    this.#cancel = this.#clock.at(dueAt, () => {
      const lateMs = this.#overdueMs();
      this.#dueAt = Number.POSITIVE_INFINITY;
      this.#lateMs += lateMs;
      this.#note(lateMs, EVERY_MS + lateMs);
      if (this.#hasWork()) this.#wait();
      else this.#end();
    });
  }

  #end(): void {
    this.#isWatching = false;
    this.#endedAt = this.#clock.now();
  }

  #note(lateMs: number, periodMs: number): void {
    if (periodMs === 0) return;
    const weight = Math.min(1, periodMs / REMEMBERED_MS);
    this.#share += weight * (lateMs / periodMs - this.#share);
  }
}
