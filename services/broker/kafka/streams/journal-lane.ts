import type { JournalBatch } from '../../broker.ts';
import type { Partition, ReadRecord } from '../consumer/partition.ts';

/** A record taken apart into its entries, in Avro. The first `taken` of them are in earlier batches. */
export interface OpenedRecord {
  readonly record: ReadRecord;
  readonly entries: readonly Buffer[];
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
  /** An entry could not be decoded: each is, until a batch is accepted, so that the malformed one is found. */
  isSuspect: boolean;
  failures: number;
  failingSince: number;
}

export const newJournalLane = (partition: Partition): JournalLane => ({
  partition,
  waiting: [],
  opened: null,
  held: null,
  working: null,
  isSuspect: false,
  failures: 0,
  failingSince: 0,
});

/**
 * Returns whether the batch that was not accepted has an entry that cannot be decoded. Then its records are opened
 * again: the store ignores what it has of them.
 */
export function opensAgain(lane: JournalLane): boolean {
  try {
    for (const _ of lane.held?.batch.entries ?? []);
    return false;
  } catch {
    lane.held = null;
    lane.opened = null;
    lane.isSuspect = true;
    return true;
  }
}
