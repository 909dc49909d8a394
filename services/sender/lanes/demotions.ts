import type { Clock } from '../../process/clock.ts';
import { Deadlines } from '../../process/deadlines.ts';
import type { QueuedTask } from './queued-task.ts';

/** Demotes each started attempt that has had no response for a time, counted from our last step on it. */
export class Demotions {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #deadlines: Deadlines<QueuedTask>;
  /** Started attempts that cannot begin yet. */
  readonly #held = new Set<QueuedTask>();

  constructor(clock: Clock, afterMs: number, demote: (task: QueuedTask) => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#deadlines = new Deadlines(clock, { aheadMs: afterMs, whenLate: 'read-first' }, demote);
  }

  started(task: QueuedTask, now: number): void {
    task.deadline = this.#deadlines.add(task, now);
  }

  /** The attempt cannot begin yet, for a reason of our own: no time of its receiver passes until `stepped`. */
  held(task: QueuedTask): void {
    if (task.deadline) this.#deadlines.remove(task.deadline);
    this.#held.add(task);
  }

  /** Our part of the attempt is done again: it waits for the receiver from now on. */
  stepped(task: QueuedTask): void {
    if (task.isDemoted || !task.deadline) return;
    this.ended(task);
    task.deadline = this.#deadlines.add(task, this.#clock.now());
  }

  ended(task: QueuedTask): void {
    if (task.deadline) this.#deadlines.remove(task.deadline);
    this.#held.delete(task);
  }

  /** Returns how many attempts in the fast lane are held, or have waited for their receivers since `at` or longer. */
  fastWaitingSince(at: number): number {
    const waiting = [...this.#held, ...this.#deadlines.dueBy(at + this.#afterMs)];
    return waiting.reduce((count, { place }) => (place === 'fast' ? count + 1 : count), 0);
  }
}
