import type { UsualAnswer } from './usual-answer.ts';

/** While this process is late, an endpoint still answers if it responded within this multiple of the usual duration. */
const USUAL_TIMES = 3;
/** The same where the usual duration is short. */
const HEARD_MS_MIN = 300;

/** How late this process is. */
export interface OwnLateness {
  /** It is too late to judge receivers. */
  readonly isLate: boolean;
  /** The milliseconds in which it was late so far. */
  readonly lateMs: number;
}

/** How long one endpoint has been silent, and whether that is its own doing. */
export class Silence {
  readonly #lateness: OwnLateness;
  readonly #usual: UsualAnswer;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** The total lateness of this process at that moment, milliseconds. */
  #heardLateMs = 0;

  constructor(lateness: OwnLateness, usual: UsualAnswer) {
    this.#lateness = lateness;
    this.#usual = usual;
  }

  /** It has responded, or nothing was sent to it before: its silence begins now. */
  heard(now: number): void {
    this.#heardAt = now;
    this.#heardLateMs = this.#lateness.lateMs;
  }

  /** An attempt succeeded, this many milliseconds after its start. */
  succeeded(ms: number): void {
    this.#usual.note(ms);
  }

  /** Returns how long it has been silent, milliseconds. */
  ms(now: number): number {
    return now - this.#heardAt;
  }

  /** Returns whether nothing shows that it is slow: this process is late, and it has responded lately. */
  isExcused(now: number): boolean {
    if (!this.#lateness.isLate) return false;
    return this.#unheardMs(now) < Math.max(HEARD_MS_MIN, USUAL_TIMES * this.#usual.ms);
  }

  /** Returns how long it has been silent, without the time in which this process could not listen. */
  #unheardMs(now: number): number {
    return now - this.#heardAt - (this.#lateness.lateMs - this.#heardLateMs);
  }
}
