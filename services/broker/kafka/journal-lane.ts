import type { JournalEntry } from '../../domain/journal.ts';
import type { JournalBatch } from '../broker.ts';
import type { Partition, ReadRecord } from './partition.ts';

/** A record with its entries, of which some may be in an earlier batch. */
export interface Opened {
  readonly record: ReadRecord;
  readonly entries: readonly JournalEntry[];
  taken: number;
}

/** One partition's records that wait for the store. */
export interface Lane {
  readonly partition: Partition;
  readonly waiting: ReadRecord[];
  /** The first that waits, if its beginning is in an earlier batch. */
  opened: Opened | null;
  /** Handed over and not taken: comes again as it was. With the records that end in it. */
  held: { readonly batch: JournalBatch; readonly records: readonly ReadRecord[] } | null;
  working: Promise<void> | null;
  failures: number;
  failingSince: number;
}

export const newLane = (partition: Partition): Lane => ({
  partition,
  waiting: [],
  opened: null,
  held: null,
  working: null,
  failures: 0,
  failingSince: 0,
});
