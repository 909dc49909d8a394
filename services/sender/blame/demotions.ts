import type { Clock } from '../../process/clock.ts';
import { type Deadline, Deadlines } from './deadlines.ts';

/** The time of an attempt, as far as it concerns its demotion. */
export interface Demotable<Attempt> {
  readonly attempt: Attempt;
  readonly isDemoted: boolean;
  /** Null until it has started. Only the demotions write it. */
  deadline: Deadline<Demotable<Attempt>> | null;
}

/** Demotes each started attempt that has had no response for a time, counted from our last step on it. */
export class Demotions<Attempt> {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #deadlines: Deadlines<Demotable<Attempt>>;
  /** Started attempts that cannot begin yet. */
  readonly #held = new Set<Demotable<Attempt>>();

  constructor(clock: Clock, afterMs: number, demote: (attempt: Attempt) => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    const options = { aheadMs: afterMs, whenLate: 'read-first' } as const;
    this.#deadlines = new Deadlines(clock, options, ({ attempt }) => demote(attempt));
  }

  started(time: Demotable<Attempt>, now: number): void {
    time.deadline = this.#deadlines.add(time, now);
  }

  /** The attempt cannot begin yet, for a reason of our own: it is not demoted until `goesOn`. */
  held(time: Demotable<Attempt>): void {
    if (time.deadline) this.#deadlines.remove(time.deadline);
    this.#held.add(time);
  }

  /** Our part of the attempt is done again: it waits for the receiver from now on. */
  goesOn(time: Demotable<Attempt>): void {
    if (time.isDemoted || !time.deadline) return;
    this.ended(time);
    time.deadline = this.#deadlines.add(time, this.#clock.now());
  }

  ended(time: Demotable<Attempt>): void {
    if (time.deadline) this.#deadlines.remove(time.deadline);
    this.#held.delete(time);
  }

  /** Returns the attempts that are held, or have waited for their receivers since `at` or longer. */
  waitingSince(at: number): Demotable<Attempt>[] {
    return [...this.#held, ...this.#deadlines.dueBy(at + this.#afterMs)];
  }
}
