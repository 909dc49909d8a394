import type { IdsBudget } from './ids-budget.ts';
import { RecentIds } from './recent-ids.ts';

/**
 * Recognises a task that a crash produced twice: a crash after the follow-up is durable and before its cause is
 * acknowledged forks the chain, and the second copy has the same delivery, attempt and hop. Covers a window of one
 * partition's log before its last record, within a number of tasks that all partitions share.
 */
export class SeenTasks {
  readonly #ids: RecentIds;

  constructor(windowMs: number, budget: IdsBudget, from: number) {
    this.#ids = new RecentIds({ windowMs, budget, from, hasContent: false });
  }

  /** Returns whether an earlier record had the same key. Records must come in the order of their offsets. */
  isCopy(key: string, offset: number, appendedAt: number): boolean {
    return this.#ids.add(key, offset, appendedAt) === 'same';
  }

  /** The offset at which reading must start to remember as much again. */
  get start(): number {
    return this.#ids.start;
  }

  /** Forgets everything: the partition is no longer ours. */
  close(): void {
    this.#ids.close();
  }
}
