import type { Settled } from './commit-queue.ts';
import type { LogRow } from './log-stream.ts';
import type { Part } from './part.ts';

/** A record that was handed over and is not settled. */
export class Item<T> implements Settled {
  readonly record: T;
  /** Its batch row, or null for a delayed task. */
  readonly row: LogRow<unknown> | null;
  /** Its place in the row, or the delayed task's id. */
  readonly index: number;
  readonly feed: Feed<T>;
  /** How often the handler threw, and since when; 0 = never. */
  failures = 0;
  since = 0;
  /** Cancels the pause before it is offered again. */
  cancel: (() => void) | null = null;
  /** Who settled it, and wants to know when that is durable. */
  settledBy: { durable(item: Item<T>): void } | null = null;

  constructor(record: T, row: LogRow<unknown> | null, index: number, feed: Feed<T>) {
    this.record = record;
    this.row = row;
    this.index = index;
    this.feed = feed;
  }

  durable(): void {
    this.settledBy?.durable(this);
  }
}

/** Where a source takes its records from. */
export interface Feed<T> {
  take(): Item<T> | undefined;
  /** Writes into the part that the item is done. */
  complete(item: Item<T>, part: Part): void;
  /** What `complete` wrote is durable. */
  completed(item: Item<T>): void;
  /** Called when `take` may have something again. */
  onAvailable: () => void;
}
