import type { JournalBatch } from '../../../domain/journal.ts';
import type { Partition, ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { Ownership } from '../../broker.ts';
import { Item } from '../../work.ts';
import { ownershipOf, type RecordReader } from './stream-feed.ts';

/** Limits of reading the journal's topic: a batch of the store's, and the next. */
export const JOURNAL_HELD = { maxWaitMs: 100, heldMax: 4000, heldBytesMax: 2 * 1024 * 1024 } as const;
/** A record taken apart into its entries, in Avro. The first `taken` of them are in earlier batches. */
export interface OpenedRecord {
  readonly record: ReadRecord;
  readonly entries: readonly Buffer[];
  taken: number;
}

/** The records of one partition that are not in the store yet. Its turn is handed over: the handler asks for the batch. */
export class PartitionJournal extends Item {
  readonly partition: Partition;
  readonly waiting: ReadRecord[] = [];
  /** The first waiting record, when an earlier batch holds its first entries. */
  opened: OpenedRecord | null = null;
  /** The batch that the handler has not accepted yet, with the records that end in it. It is handed over again unchanged. */
  held: { readonly batch: JournalBatch; readonly records: readonly ReadRecord[] } | null = null;
  /** The store has everything up to this position; undefined: it had none. */
  stored: number | undefined;
  /** It was handed over and has not come back. */
  isOut = false;
  /** An entry could not be decoded: each is, until a batch is accepted, so that the malformed one is found. */
  isSuspect = false;
  readonly #reader: RecordReader;

  constructor(partition: Partition, stored: number | undefined, reader: RecordReader) {
    super();
    this.partition = partition;
    this.stored = stored;
    this.#reader = reader;
  }

  override get ownership(): Ownership {
    return ownershipOf(this.partition, this.#reader);
  }

  completed(): void {
    this.isOut = false;
  }

  /** The store has the batch that is held: its records are done. */
  accept(): void {
    const { held } = this;
    if (!held) return;
    this.held = null;
    this.stored = held.batch.last;
    this.failures = 0;
    this.isSuspect = false;
    this.waiting.splice(0, held.records.length);
    for (const record of held.records) this.#reader.done(record);
  }
}

/**
 * Returns whether the batch that was not accepted has an entry that cannot be decoded. Then its records are opened
 * again: the store ignores what it has of them.
 */
export function opensAgain(journal: PartitionJournal): boolean {
  try {
    for (const _ of journal.held?.batch.entries ?? []);
    return false;
  } catch {
    journal.held = null;
    journal.opened = null;
    journal.isSuspect = true;
    return true;
  }
}

/** Whether half of what may be held is there. */
export function isHalfFull({ held, heldBytes }: Partition): boolean {
  return held * 2 >= JOURNAL_HELD.heldMax || heldBytes * 2 >= JOURNAL_HELD.heldBytesMax;
}
