import { type Feed, Item } from '../work.ts';
import type { CommitHalf } from './commit-half.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { LogRow } from './log-row.ts';

/** A record of the file that was handed over and is not settled. */
export class FileItem<T> extends Item {
  readonly record: T;
  /** Its batch row, or null for a delayed task. */
  readonly row: LogRow<unknown> | null;
  /** Its index in the row, or the delayed task's id. */
  readonly index: number;
  readonly feed: FileFeed<T>;

  constructor(record: T, row: LogRow<unknown> | null, index: number, feed: FileFeed<T>) {
    super();
    this.record = record;
    this.row = row;
    this.index = index;
    this.feed = feed;
  }

  completed(): void {
    this.feed.completed(this);
  }
}

/** A stream of the file. */
export interface FileFeed<T> extends Feed<FileItem<T>> {
  /** Writes into the half that the item is done. */
  complete(item: FileItem<T>, half: CommitHalf): void;
  /** The write by `complete` is durable. */
  completed(item: FileItem<T>): void;
}

/** The settlement of an item has been written: marks the item as done. */
export function markSettled<T>(item: FileItem<T>, queue: CommitQueue): true {
  item.feed.complete(item, queue.settlements);
  queue.settled(item);
  return true;
}
