import type { ParkedReason, Parking } from '../domain/task.ts';
import type { ParkedStatus } from './broker-status.ts';

/** Ages are told to the second: a tally remembers one number for each, not one for each task. */
const GRAIN_MS = 1000;

/** The number of parked tasks by reason, and since when the oldest of each has been parked. */
export class ParkedTally {
  /** Counts by reason, then by the time since which tasks have been parked. */
  readonly #counts = new Map<ParkedReason, Map<number, number>>();

  /** `parked`: of a task that begins to wait; undefined = it is not parked. */
  add(parked: Parking | undefined): void {
    this.#change(parked, 1);
  }

  /** Forgets a task that was added: it is handed over, or no longer ours. */
  remove(parked: Parking | undefined): void {
    this.#change(parked, -1);
  }

  #change(parked: Parking | undefined, by: number): void {
    if (!parked) return;
    const since = Math.floor(parked.since / GRAIN_MS);
    const times = this.#counts.get(parked.reason) ?? new Map<number, number>();
    this.#counts.set(parked.reason, times);
    const count = (times.get(since) ?? 0) + by;
    if (count === 0) times.delete(since);
    else times.set(since, count);
  }

  /** Returns the reasons for which tasks are parked, in the tallies together. `now`: of the clock that parks them. */
  static read(tallies: Iterable<ParkedTally>, now: number): ParkedStatus[] {
    const found = new Map<ParkedReason, { count: number; since: number }>();
    for (const tally of tallies) {
      for (const [reason, times] of tally.#counts) {
        if (times.size === 0) continue;
        const of = found.get(reason) ?? { count: 0, since: Number.POSITIVE_INFINITY };
        found.set(reason, of);
        for (const [since, count] of times) {
          of.count += count;
          of.since = Math.min(of.since, since);
        }
      }
    }
    return [...found].map(([reason, { count, since }]) => ({
      ...{ reason, count },
      oldestMs: Math.max(0, now - since * GRAIN_MS),
    }));
  }
}
