import type { Partition, ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Ownership } from '../../broker.ts';
import { type Feed, Item } from '../../work.ts';
import type { KafkaRecords } from '../registry/records.ts';

/** The interval of checks while nothing may be started, milliseconds. */
export const AGAIN_MS = 200;

/** The reader of the topic. */
export interface RecordReader {
  /** False while nothing new may be started. */
  readonly isTrusted: boolean;
  done(record: ReadRecord): void;
}

/** Returns whether work of a partition may be started. */
export function ownershipOf({ isAlive }: Partition, { isTrusted }: RecordReader): Ownership {
  if (!isAlive) return 'lost';
  return isTrusted ? 'owned' : 'unsure';
}

/** A record that was handed over. */
export class TopicItem<T> extends Item {
  readonly value: T;
  readonly record: ReadRecord;
  readonly reader: RecordReader;
  /** How often `completed` must be called before the record is done. */
  #open = 1;

  constructor(value: T, record: ReadRecord, reader: RecordReader) {
    super();
    this.value = value;
    this.record = record;
    this.reader = reader;
  }

  override get ownership(): Ownership {
    return ownershipOf(this.record.partition, this.reader);
  }

  /** Keeps the record open for work of its own, until that calls `completed` too. */
  keepOpen(): void {
    this.#open += 1;
  }

  completed(): void {
    this.#open -= 1;
    if (this.#open === 0) this.reader.done(this.record);
  }
}

export interface StreamFeedOptions<T> {
  readonly records: KafkaRecords;
  readonly clock: Clock;
  /** Returns undefined for a record that was handled otherwise. */
  readonly decode: (record: ReadRecord) => T | undefined;
  /** Returns the topic's present reader. */
  readonly reader: () => RecordReader | null;
  /** Returns whether this record's results can be written; absent = always. Its partition waits while they cannot. */
  readonly mayBegin?: (record: ReadRecord) => boolean;
  /** Fires when the engine closes. */
  readonly closing: AbortSignal;
}

/** Records of one topic, handed over in the order of their partition, the partitions taking turns. */
export class StreamFeed<T> implements Feed<TopicItem<T>> {
  readonly #options: StreamFeedOptions<T>;
  readonly #queues = new Map<Partition, { records: ReadRecord[]; head: number }>();
  /** Partitions whose next record's schema is being requested. */
  readonly #learning = new Set<Partition>();
  #turns: Partition[] = [];
  #turn = 0;
  #isLooking = false;
  onAvailable: () => void = () => {};

  constructor(options: StreamFeedOptions<T>) {
    this.#options = options;
  }

  add(record: ReadRecord): void {
    let queue = this.#queues.get(record.partition);
    if (!queue) {
      queue = { records: [], head: 0 };
      this.#queues.set(record.partition, queue);
      this.#turns = [...this.#queues.keys()];
    }
    queue.records.push(record);
    this.onAvailable();
  }

  take(): TopicItem<T> | undefined {
    const reader = this.#options.reader();
    if (!reader) return undefined;
    if (!reader.isTrusted) {
      this.#lookAgain();
      return undefined;
    }
    for (let tried = 0; tried < this.#turns.length; tried += 1) {
      this.#turn = (this.#turn + 1) % this.#turns.length;
      const item = this.#takeFrom(this.#turns[this.#turn] as Partition, reader);
      if (item) return item;
    }
    return undefined;
  }

  /** When the oldest waiting record was appended; undefined = none waits. */
  get oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { records, head } of this.#queues.values()) {
      const first = records[head]?.timestamp;
      if (first !== undefined && (oldest === undefined || first < oldest)) oldest = first;
    }
    return oldest;
  }

  /** Forgets partitions that are no longer ours. */
  prune(): void {
    for (const partition of this.#queues.keys()) if (!partition.isAlive) this.#queues.delete(partition);
    this.#turns = [...this.#queues.keys()];
    this.onAvailable();
  }

  #lookAgain(): void {
    const { clock, closing } = this.#options;
    if (this.#isLooking || closing.aborted) return;
    this.#isLooking = true;
    clock.at(clock.now() + AGAIN_MS, () => {
      this.#isLooking = false;
      this.onAvailable();
    });
  }

  #takeFrom(partition: Partition, reader: RecordReader): TopicItem<T> | undefined {
    const queue = this.#queues.get(partition);
    if (!queue || !partition.isAlive) return undefined;
    for (let record = queue.records[queue.head]; record; record = queue.records[queue.head]) {
      if (!this.#options.records.isKnown(record.value, record.readAt)) {
        this.#learn(partition, record);
        return undefined;
      }
      if (!(this.#options.mayBegin?.(record) ?? true)) {
        this.#lookAgain();
        return undefined;
      }
      queue.head += 1;
      if (queue.head === queue.records.length) {
        queue.records = [];
        queue.head = 0;
      }
      const value = this.#options.decode(record);
      if (value !== undefined) return new TopicItem(value, record, reader);
    }
    return undefined;
  }

  #learn(partition: Partition, { value, readAt }: ReadRecord): void {
    if (this.#learning.has(partition)) return;
    this.#learning.add(partition);
    void this.#options.records.learn(value, this.#options.closing, readAt).then(() => {
      this.#learning.delete(partition);
      this.onAvailable();
    });
  }
}
