import type { LogRow } from './log-stream.ts';
import type { Part } from './part.ts';

/** A record that was handed over and is not settled. */
export interface Item<T> {
  readonly record: T;
  /** Its batch row, or null for a delayed task. */
  readonly row: LogRow<unknown> | null;
  /** Its place in the row, or the delayed task's id. */
  readonly index: number;
  readonly feed: Feed<T>;
  /** How often the handler threw, and since when; 0 = never. */
  failures: number;
  since: number;
  /** Cancels the pause before it is offered again. */
  cancel: (() => void) | null;
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
