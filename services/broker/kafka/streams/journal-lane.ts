import type { JournalEntry } from '../../../domain/journal.ts';
import type { JournalBatch } from '../../broker.ts';
import type { Partition, ReadRecord } from '../consumer/partition.ts';

/** A decoded record. Its first `taken` entries are in earlier batches. */
export interface OpenedRecord {
  readonly record: ReadRecord;
  readonly entries: readonly JournalEntry[];
  taken: number;
}

/** The records of one partition that are not in the store yet. */
export interface JournalLane {
  readonly partition: Partition;
  readonly waiting: ReadRecord[];
  /** The first waiting record, when an earlier batch holds its first entries. */
  opened: OpenedRecord | null;
  /** The batch that the handler has not accepted yet, with the records that end in it. It is handed over again unchanged. */
  held: { readonly batch: JournalBatch; readonly records: readonly ReadRecord[] } | null;
  working: Promise<void> | null;
  failures: number;
  failingSince: number;
}

export const newJournalLane = (partition: Partition): JournalLane => ({
  partition,
  waiting: [],
  opened: null,
  held: null,
  working: null,
  failures: 0,
  failingSince: 0,
});
