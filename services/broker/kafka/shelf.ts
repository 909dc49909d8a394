import type { DeadLetter } from '../../domain/journal.ts';
import type { Quarantined } from '../../domain/quarantine.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import type { Broker, Shelf } from '../broker.ts';
import { errorLine } from './error-line.ts';
import type { RecordSender } from './record-sender.ts';
import type { KafkaRecords, RecordOf } from './records.ts';
import {
  compareOnShelf,
  OldestOnShelf,
  type OnShelf,
  positionText,
  readPosition,
  type ShelfPosition,
} from './shelf-position.ts';
import type { TopicReader } from './topic-reader.ts';

const LIST_MAX = 1000;
const LEARN_MS_MAX = 10_000;
const REQUEUE_MS_MAX = 30_000;

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
class TopicShelf<K extends ShelfKind> implements Shelf<RecordOf[K]> {
  readonly #kind: K;
  readonly #options: ShelfOptions;

  constructor(kind: K, options: ShelfOptions) {
    this.#kind = kind;
    this.#options = options;
  }

  /** The topic forgets by age. */
  async forget(): Promise<void> {}

  /** At most 1,000. Throws RangeError when `after` is no position. Records that cannot be read are left out and logged. */
  async list({
    after,
    limit,
  }: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly { readonly position: string; readonly record: RecordOf[K] }[]> {
    let from: ShelfPosition | null | undefined = after === undefined ? null : readPosition(after);
    if (from === undefined) throw new RangeError(`"${after}" is not a position of this shelf`);
    const wanted = Math.max(0, Math.min(limit, LIST_MAX));
    const listed: { position: string; record: RecordOf[K] }[] = [];
    while (listed.length < wanted) {
      const asked = wanted - listed.length;
      const page = await this.#oldest(from, asked);
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
  async #oldest(after: ShelfPosition | null, limit: number): Promise<OnShelf[]> {
    const { reader, topic } = this.#options;
    const taken = new Set<string>();
    const copied = new Map<string, number>();
    for (;;) {
      const oldest = new OldestOnShelf(limit);
      // Whatever comes after the place, and whatever takes it off again, has been appended since its time.
      const starts = after ? await reader.startsAt(topic, after.timestamp) : undefined;
      await reader.read(topic, starts, (record) => {
        const key = keyText(record);
        if (record.value === null) taken.add(key);
        else if (taken.has(key) || record.offset < (copied.get(key) ?? 0)) return;
        else if (!after || compareOnShelf(record, after) > 0) {
          const isCopy = oldest.add(key, { ...record, value: record.value });
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

  /** The records at these places that are still on the shelf, oldest first. */
  async take(places: readonly string[]): Promise<OnShelf[]> {
    const { reader, topic } = this.#options;
    const wanted = new Set(places.filter((text) => readPosition(text)));
    const starts = new Map<number, number>();
    for (const text of wanted) {
      const place = readPosition(text);
      if (!place) continue;
      starts.set(place.partition, Math.min(place.offset, starts.get(place.partition) ?? place.offset));
    }
    const found = new Map<string, OnShelf>();
    await reader.read(topic, starts, (record) => {
      if (record.value === null) found.delete(keyText(record));
      else if (wanted.has(positionText(record)))
        found.set(keyText(record), { ...record, value: record.value });
    });
    return [...found.values()].sort(compareOnShelf);
  }
}

export interface QuarantineOptions extends ShelfOptions {
  readonly sender: RecordSender;
  readonly random: Random;
  readonly eventsTopic: string;
}

/** Events that could not be routed. Every record has a key of its own, so that a null takes off exactly one. */
export class QuarantineShelf {
  readonly list: Shelf<Quarantined>['list'];
  readonly #options: QuarantineOptions;
  readonly #shelf: TopicShelf<'quarantined'>;

  constructor(options: QuarantineOptions) {
    this.#options = options;
    this.#shelf = new TopicShelf('quarantined', options);
    this.list = (page) => this.#shelf.list(page);
  }

  /** The topic forgets by age. */
  async forget(): Promise<void> {}

  /** Resolves when it is durable; waits for brokers as long as it takes. */
  async put(record: Quarantined): Promise<void> {
    const { random, records, sender, topic } = this.#options;
    const key = random.uuid();
    const value = records.encode('quarantined', record);
    // One merchant's records keep their order, which times of a millisecond do not tell.
    const partition = sender.partitionOf(topic, record.merchantId ?? '');
    await sender.send({ topic, partition, key: Buffer.from(key), value });
  }

  /** See the port. Rejects with "outcome unknown" when brokers do not answer for 30 s: some may be requeued by then. */
  requeue: Broker['quarantine']['requeue'] = async (positions) => {
    const { clock, log, records, topic } = this.#options;
    const requeued: Promise<void>[] = [];
    for (const item of await this.#shelf.take(positions)) {
      await learnWithin(records, item.value, clock);
      let record: Quarantined;
      try {
        record = records.decode('quarantined', item.value);
      } catch (error) {
        const { partition, offset } = item;
        log.error(
          { topic, partition, offset, detail: errorLine(error) },
          'a shelved record cannot be requeued',
        );
        continue;
      }
      const key = await this.#keyOf(record);
      requeued.push(this.#putBack(item, record, key));
    }
    await Promise.all(requeued);
    return requeued.length;
  };

  /**
   * First the event, then the null: a crash between the two leaves the record on the shelf, and the event comes twice
   * when it is requeued again. That does no harm: ids are deterministic, so its deliveries are the same ones.
   */
  async #putBack({ key, partition }: OnShelf, { bytes }: Quarantined, eventKey: string): Promise<void> {
    const { eventsTopic, sender, topic } = this.#options;
    const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const to = sender.partitionOf(eventsTopic, eventKey);
    await sender.send(
      { topic: eventsTopic, partition: to, key: Buffer.from(eventKey), value },
      REQUEUE_MS_MAX,
    );
    await sender.send({ topic, partition, key, value: null }, REQUEUE_MS_MAX);
  }

  /** The record's own key was not kept: the entity's id, which it should have been, if it can be read. */
  async #keyOf({ bytes, eventId }: Quarantined): Promise<string> {
    const { clock, records } = this.#options;
    const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    await learnWithin(records, value, clock);
    const decoded = records.decodeEvent(value);
    return decoded.ok ? decoded.event.entityId : (eventId ?? '');
  }
}

/** Rejects when the registry has not told a record's schema in time: leaving the record out would hide it. */
async function learnWithin(records: KafkaRecords, bytes: Buffer, clock: Clock): Promise<void> {
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
