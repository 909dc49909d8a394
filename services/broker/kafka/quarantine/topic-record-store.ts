import type { DeadLetter } from '../../../domain/journal.ts';
import type { Starts, TopicReader, TopicRecord } from '../../../kafka-client/client/topic-reader.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { ListOptions, RecordStore } from '../../broker.ts';
import type { KafkaRecords, RecordOf } from '../registry/records.ts';
import {
  comparePositions,
  OldestRecords,
  positionText,
  type RecordPosition,
  readPosition,
  type StoredTopicRecord,
} from './record-position.ts';

const LIST_MAX = 1000;
const LEARN_MS_MAX = 10_000;

export interface RecordStoreOptions {
  readonly reader: TopicReader;
  readonly records: KafkaRecords;
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
}

/** The store of dead letters, oldest first, one of each delivery. */
export function deadLetterStore(options: RecordStoreOptions): RecordStore<DeadLetter> {
  return new TopicRecordStore('deadLetter', options);
}

type StoredKind = 'deadLetter' | 'quarantined';

/**
 * The records of one topic, the last of each key: a crash may write one again, and a later null of its key removes it.
 * A position is `<timestamp>-<partition>-<offset>`; as `after` it is a place in the order, whether its record still
 * exists or not.
 */
export class TopicRecordStore<K extends StoredKind> implements RecordStore<RecordOf[K]> {
  readonly #kind: K;
  readonly #options: RecordStoreOptions;

  constructor(kind: K, options: RecordStoreOptions) {
    this.#kind = kind;
    this.#options = options;
  }

  /** Does nothing: the topic's retention deletes old records. */
  async forget(): Promise<void> {}

  /** See the port. Reads the topic twice: only its end shows which records are still stored. */
  async visit(use: (position: string, record: RecordOf[K]) => void | Promise<void>): Promise<void> {
    await this.#present(undefined, undefined, async (item) => {
      const record = await this.#decoded(item);
      if (record) await use(positionText(item), record);
    });
  }

  /**
   * Returns at most 1,000. Throws RangeError for an invalid `after`. Records that cannot be read are omitted and
   * logged.
   */
  async list({
    after,
    limit,
    matches,
  }: ListOptions<RecordOf[K]>): Promise<
    readonly { readonly position: string; readonly record: RecordOf[K] }[]
  > {
    let from: RecordPosition | null | undefined = after === undefined ? null : readPosition(after);
    if (from === undefined) throw new RangeError(`"${after}" is not a position in this store`);
    const wanted = Math.max(0, Math.min(limit, LIST_MAX));
    const listed: { position: string; record: RecordOf[K] }[] = [];
    while (listed.length < wanted) {
      const asked = wanted - listed.length;
      const page = await this.#oldest(from, asked, matches);
      for (const item of page) {
        const record = await this.#decoded(item);
        if (record) listed.push({ position: positionText(item), record });
      }
      from = page.at(-1) ?? null;
      if (page.length < asked) break;
    }
    return listed;
  }

  /** Returns the oldest records after a position that are still stored. */
  async #oldest(
    after: RecordPosition | null,
    limit: number,
    matches: ListOptions<RecordOf[K]>['matches'],
  ): Promise<StoredTopicRecord[]> {
    const { reader, topic } = this.#options;
    const taken = new Set<string>();
    const copied = new Map<string, number>();
    for (;;) {
      const oldest = new OldestRecords(limit);
      // All records after the position, and all that remove them, have been appended since its time.
      const starts = after ? await reader.startsAt(topic, after.timestamp) : undefined;
      await reader.read(topic, starts, async (record) => {
        const key = keyText(record);
        if (record.value === null) taken.add(key);
        else if (taken.has(key) || record.offset < (copied.get(key) ?? 0)) return;
        else if (!after || comparePositions(record, after) > 0) {
          const item = { ...record, value: record.value };
          if (matches && !(await this.#isMatch(item, matches))) return;
          const isCopy = oldest.add(key, item);
          if (isCopy) copied.set(key, record.offset);
        }
      });
      const present = oldest.sorted().filter((record) => !taken.has(keyText(record)));
      if (present.length >= limit || !oldest.hasDropped) return present.slice(0, limit);
      // More of the oldest were removed or copied than were kept in reserve: read again, knowing which.
    }
  }

  async #decoded(item: StoredTopicRecord): Promise<RecordOf[K] | undefined> {
    const { clock, log, records, topic } = this.#options;
    await learnWithin(records, item.value, clock);
    try {
      return records.decode(this.#kind, item.value);
    } catch (error) {
      const { partition, offset } = item;
      log.error(
        { topic, partition, offset, detail: errorLine(error) },
        'a stored record cannot be read: skipped',
      );
      return undefined;
    }
  }

  async #isMatch(item: StoredTopicRecord, matches: (record: RecordOf[K]) => boolean): Promise<boolean> {
    const { clock, records } = this.#options;
    await learnWithin(records, item.value, clock);
    try {
      return matches(records.decode(this.#kind, item.value));
    } catch {
      // It was logged where it would have been listed.
      return false;
    }
  }

  /** Visits the records at these positions that are still stored, in the order of their partitions. */
  async take(places: readonly string[], use: (item: StoredTopicRecord) => Promise<void>): Promise<void> {
    const wanted = new Set<string>();
    const starts = new Map<number, number>();
    for (const text of places) {
      const place = readPosition(text);
      if (!place) continue;
      wanted.add(text);
      starts.set(place.partition, Math.min(place.offset, starts.get(place.partition) ?? place.offset));
    }
    if (wanted.size > 0) await this.#present(starts, (record) => wanted.has(positionText(record)), use);
  }

  /**
   * Visits the stored records, the last of each key. The first reading keeps keys and offsets only: there may be
   * many records, of several megabytes each.
   */
  async #present(
    starts: Starts | undefined,
    isWanted: ((record: TopicRecord) => boolean) | undefined,
    use: (item: StoredTopicRecord) => Promise<void>,
  ): Promise<void> {
    const { reader, topic } = this.#options;
    const offsets = new Map<string, number>();
    await reader.read(topic, starts, (record) => {
      if (record.value === null) offsets.delete(keyText(record));
      else if (!isWanted || isWanted(record)) offsets.set(keyText(record), record.offset);
    });
    if (offsets.size === 0) return;
    await reader.read(topic, starts, (record) => {
      const { offset, value } = record;
      if (value === null || offsets.get(keyText(record)) !== offset) return undefined;
      return use({ ...record, value });
    });
  }
}

/** Rejects when the registry has not returned a record's schema in time: omitting the record would hide it. */
export async function learnWithin(records: KafkaRecords, bytes: Buffer, clock: Clock): Promise<void> {
  if (records.isKnown(bytes)) return;
  const late = new AbortController();
  const cancel = clock.at(clock.now() + LEARN_MS_MAX, () => late.abort());
  await records.learn(bytes, late.signal);
  cancel();
  if (records.isKnown(bytes)) return;
  throw new Error(
    'the schema registry did not return the schema of a stored record: check that it is running, then try again',
  );
}

/** Returns what names a stored record, and its removal. */
export function keyText({
  key,
  partition,
  offset,
}: Pick<StoredTopicRecord, 'key' | 'partition' | 'offset'>): string {
  // Without a key nothing can remove it.
  return key === null ? `${partition}/${offset}` : `${partition}:${key.toString('latin1')}`;
}
