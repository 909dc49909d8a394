import { EncodedEntries } from '../../../codec/encoded-entries.ts';
import type { ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { JOURNAL_RECORD_MAX, type KafkaRecords } from '../registry/records.ts';
import type { PartitionJournal } from './partition-journal.ts';

export interface JournalRecordDeps {
  readonly records: KafkaRecords;
  readonly log: Logger;
  readonly topic: string;
  /** Keeps a record that cannot be read, for operators; resolves when it is durable. */
  readonly quarantine: (record: ReadRecord, detail: string) => Promise<void>;
  readonly closing: AbortSignal;
}

interface Deps extends JournalRecordDeps {
  /** The name of a partition in positions. */
  readonly nameOf: (partition: number, topicId: string | null) => string;
  /** A record will not be handed over: it was put in quarantine. */
  readonly dropped: (record: ReadRecord) => void;
}

/** Makes the batches of a partition from its records, each with `max` entries at the most. */
export class JournalBatches {
  readonly #deps: Deps;
  readonly #max: number;

  constructor(deps: Deps, max: number) {
    this.#deps = deps;
    this.#max = max;
  }

  /** Returns as many entries as may go together, up to a record that cannot be read. */
  async next(journal: PartitionJournal): Promise<PartitionJournal['held']> {
    const entries: Buffer[] = [];
    const positions: number[] = [];
    const records: ReadRecord[] = [];
    for (const record of journal.waiting.slice(0, this.#max)) {
      const opened = journal.opened ?? (await this.#open(journal, record, entries.length > 0));
      if (!opened) break;
      for (; opened.taken < opened.entries.length && entries.length < this.#max; opened.taken += 1) {
        entries.push(opened.entries[opened.taken] as Buffer);
        positions.push(record.offset * JOURNAL_RECORD_MAX + opened.taken);
      }
      journal.opened = opened.taken < opened.entries.length ? opened : null;
      if (journal.opened) break;
      records.push(record);
    }
    const [first] = positions;
    const last = positions.at(-1);
    if (first === undefined || last === undefined) return null;
    return {
      batch: {
        partition: this.#deps.nameOf(journal.partition.id, journal.partition.topicId),
        first,
        last,
        positions,
        after: journal.stored,
        entries: new EncodedEntries(entries),
      },
      records,
    };
  }

  async #open(journal: PartitionJournal, record: ReadRecord, hasEarlier: boolean) {
    const entries = await this.#read(journal, record, hasEarlier);
    return entries && { record, entries, taken: 0 };
  }

  /**
   * Returns the entries; null = the batch ends before them. A record that can never be read is stored, once it comes
   * first.
   */
  async #read(
    journal: PartitionJournal,
    record: ReadRecord,
    hasEarlier: boolean,
  ): Promise<readonly Buffer[] | null> {
    const { records, closing, quarantine, log, topic, dropped } = this.#deps;
    const value = record.value ?? Buffer.alloc(0);
    if (!records.isKnown(value)) {
      if (hasEarlier) return null;
      await records.learn(value, closing);
    }
    try {
      const entries = records.journalEntries(value, { isDecoded: journal.isSuspect });
      if (entries.length > 0 && entries.length <= JOURNAL_RECORD_MAX) return entries;
      throw new Error(`${entries.length} entries in one record: 1 to ${JOURNAL_RECORD_MAX} can be read`);
    } catch (error) {
      if (hasEarlier) return null;
      log.error({ topic, offset: record.offset, detail: String(error) }, 'a journal record cannot be read');
      await quarantine(record, String(error));
      journal.waiting.shift();
      dropped(record);
      return null;
    }
  }
}
