import type { DeadLetter } from '../../../domain/journal.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { ListOptions, Shelf } from '../../broker.ts';
import { errorLine } from '../client/error-line.ts';
import type { Starts, TopicReader, TopicRecord } from '../client/topic-reader.ts';
import type { KafkaRecords, RecordOf } from '../registry/records.ts';
import {
  compareOnShelf,
  OldestOnShelf,
  type OnShelf,
  positionText,
  readPosition,
  type ShelfPosition,
} from './shelf-position.ts';

const LIST_MAX = 1000;
const LEARN_MS_MAX = 10_000;

export interface ShelfOptions {
  readonly reader: TopicReader;
  readonly records: KafkaRecords;
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
}

/** Dead letters, oldest first, one of each delivery. */
export function deadLetterShelf(options: ShelfOptions): Shelf<DeadLetter> {
  return new TopicShelf('deadLetter', options);
}

type ShelfKind = 'deadLetter' | 'quarantined';

/**
 * The records of one topic, of each key the last: a crash may write one again, and a later null of its key takes it off.
 * A position is `<timestamp>-<partition>-<offset>`; as `after` it is a place in the order, whether its record is still
 * there or not.
 */
export class TopicShelf<K extends ShelfKind> implements Shelf<RecordOf[K]> {
  readonly #kind: K;
  readonly #options: ShelfOptions;

  constructor(kind: K, options: ShelfOptions) {
    this.#kind = kind;
    this.#options = options;
  }

  /** The topic forgets by age. */
  async forget(): Promise<void> {}

  /** See the port. Reads the topic twice: which records are still on the shelf is known only at its end. */
  async visit(use: (position: string, record: RecordOf[K]) => void | Promise<void>): Promise<void> {
    await this.#present(undefined, undefined, async (item) => {
      const record = await this.#decoded(item);
      if (record) await use(positionText(item), record);
    });
  }

  /** At most 1,000. Throws RangeError when `after` is no position. Records that cannot be read are left out and logged. */
  async list({
    after,
    limit,
    matches,
  }: ListOptions<RecordOf[K]>): Promise<
    readonly { readonly position: string; readonly record: RecordOf[K] }[]
  > {
    let from: ShelfPosition | null | undefined = after === undefined ? null : readPosition(after);
    if (from === undefined) throw new RangeError(`"${after}" is not a position of this shelf`);
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

  /** The oldest records after a place that are still on the shelf. */
  async #oldest(
    after: ShelfPosition | null,
    limit: number,
    matches: ListOptions<RecordOf[K]>['matches'],
  ): Promise<OnShelf[]> {
    const { reader, topic } = this.#options;
    const taken = new Set<string>();
    const copied = new Map<string, number>();
    for (;;) {
      const oldest = new OldestOnShelf(limit);
      // Whatever comes after the place, and whatever takes it off again, has been appended since its time.
      const starts = after ? await reader.startsAt(topic, after.timestamp) : undefined;
      await reader.read(topic, starts, async (record) => {
        const key = keyText(record);
        if (record.value === null) taken.add(key);
        else if (taken.has(key) || record.offset < (copied.get(key) ?? 0)) return;
        else if (!after || compareOnShelf(record, after) > 0) {
          const item = { ...record, value: record.value };
          if (matches && !(await this.#isMatch(item, matches))) return;
          const isCopy = oldest.add(key, item);
          if (isCopy) copied.set(key, record.offset);
        }
      });
      const present = oldest.sorted().filter((record) => !taken.has(keyText(record)));
      if (present.length >= limit || !oldest.hasDropped) return present.slice(0, limit);
      // More of the oldest were taken off or copied than were kept in reserve: again, now knowing which.
    }
  }

  async #decoded(item: OnShelf): Promise<RecordOf[K] | undefined> {
    const { clock, log, records, topic } = this.#options;
    await learnWithin(records, item.value, clock);
    try {
      return records.decode(this.#kind, item.value);
    } catch (error) {
      const { partition, offset } = item;
      log.error(
        { topic, partition, offset, detail: errorLine(error) },
        'a shelved record cannot be read: left out',
      );
      return undefined;
    }
  }

  async #isMatch(item: OnShelf, matches: (record: RecordOf[K]) => boolean): Promise<boolean> {
    const { clock, records } = this.#options;
    await learnWithin(records, item.value, clock);
    try {
      return matches(records.decode(this.#kind, item.value));
    } catch {
      // It is logged once, where it would have been listed.
      return false;
    }
  }

  /** Hands over the records at these places that are still on the shelf, in the order of their partitions. */
  async take(places: readonly string[], use: (item: OnShelf) => Promise<void>): Promise<void> {
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
   * Hands over what is on the shelf, of each key the last record. The first reading keeps keys and offsets only: records
   * may have megabytes, and there may be many.
   */
  async #present(
    starts: Starts | undefined,
    isWanted: ((record: TopicRecord) => boolean) | undefined,
    use: (item: OnShelf) => Promise<void>,
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

/** Rejects when the registry has not told a record's schema in time: leaving the record out would hide it. */
export async function learnWithin(records: KafkaRecords, bytes: Buffer, clock: Clock): Promise<void> {
  if (records.isKnown(bytes)) return;
  const late = new AbortController();
  const cancel = clock.at(clock.now() + LEARN_MS_MAX, () => late.abort());
  await records.learn(bytes, late.signal);
  cancel();
  if (records.isKnown(bytes)) return;
  throw new Error('the schema registry does not tell the schema of a shelved record: is it up? Try again');
}

function keyText({ key, partition, offset }: Pick<OnShelf, 'key' | 'partition' | 'offset'>): string {
  // Without a key nothing can take it off.
  return key === null ? `${partition}/${offset}` : `${partition}:${key.toString('latin1')}`;
}
