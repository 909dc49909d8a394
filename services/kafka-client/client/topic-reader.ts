import type { Kafka } from 'kafkajs';
import { errorLine } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import { isOutOfRange } from '../fetch/fetch-answers.ts';
import type { Admins, Bounds } from './admins.ts';
import { batchOf, type Cluster, clusterOf, type FetchedPartition } from './kafkajs-cluster.ts';

const FETCH_BYTES = 8 * 1024 * 1024;
const PARTITION_BYTES = 1024 * 1024;
/** The longest wait of a fetch: a record ends it at once. Also the time until a lost connection is noticed. */
const FETCH_WAIT_MS = 2000;
const AGAIN_MS = 200;
const TICK_MS = 1000;
/** Reading gives up after this long without a record. */
const NO_PROGRESS_MS_MAX = 10_000;

export interface TopicReaderOptions {
  readonly kafka: Kafka;
  readonly admins: Admins;
  readonly clock: Clock;
}

export interface TopicRecord {
  readonly partition: number;
  readonly offset: number;
  /** LogAppendTime where the topic has it, milliseconds since the epoch. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/** The first offset to read by partition; partitions that are missing are not read. */
export type Starts = ReadonlyMap<number, number>;

/** Called with one record at a time. Reading continues when a returned promise has resolved. */
export type Visit = (record: TopicRecord) => void | Promise<void>;

/**
 * Reads the records that a topic has now, and no further, for an operator. It fetches from the partitions' leaders
 * without a consumer group: forming one takes 3 s on a cluster with Kafka's default rebalance delay.
 */
export class TopicReader {
  readonly #options: TopicReaderOptions;
  readonly #readings = new Set<Reading>();
  #isClosed = false;

  constructor(options: TopicReaderOptions) {
    this.#options = options;
  }

  /**
   * Visits every record that the topic has at the call, at or after `starts` (undefined: all), in order within each
   * partition. Rejects with one line when nothing arrives for 10 s, and with any error that `visit` throws.
   */
  async read(topic: string, starts: Starts | undefined, visit: Visit): Promise<void> {
    this.#refuseWhenClosed();
    const { kafka, clock } = this.#options;
    const ranges = rangesOf(await this.boundsOf(topic), starts);
    if (ranges.size === 0) return;
    this.#refuseWhenClosed();
    const cluster = clusterOf(kafka);
    const bounds = () => this.boundsOf(topic);
    const reading = new Reading({ cluster, clock, topic, ranges, visit, bounds });
    this.#readings.add(reading);
    try {
      await reading.run();
    } finally {
      this.#readings.delete(reading);
      void cluster.disconnect().catch(() => {});
    }
  }

  /** Returns where the records of this time and later begin, by partition. */
  async startsAt(topic: string, timestamp: number): Promise<Starts> {
    const offsets = await this.#options.admins.ask((admin) =>
      admin.fetchTopicOffsetsByTimestamp(topic, timestamp),
    );
    const starts = new Map(offsets.map(({ partition, offset }) => [partition, Number(offset)]));
    for (const partition of (await this.boundsOf(topic)).keys()) {
      if (!starts.has(partition))
        throw new Error(`${topic}/${partition} has no readable offsets now; try again`);
    }
    return starts;
  }

  /** Rejects readings in progress. May be called twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const reading of this.#readings) reading.fail(new Error('the broker is closed'));
  }

  /** Returns where each partition begins and ends. Requested anew each time: a shared response may lack records acknowledged since. */
  boundsOf(topic: string): Promise<Bounds> {
    return this.#options.admins.allBoundsOf(topic);
  }

  #refuseWhenClosed(): void {
    if (this.#isClosed) throw new Error('the broker is closed');
  }
}

/** The part of a partition that is still to be read: from `next` to before `end`. */
interface Range {
  next: number;
  readonly end: number;
}

function rangesOf(bounds: Bounds, starts: Starts | undefined): Map<number, Range> {
  const ranges = new Map<number, Range>();
  for (const [partition, { low, high }] of bounds) {
    const start = starts ? starts.get(partition) : low;
    if (start === undefined) continue;
    const next = Math.max(start, low);
    if (next < high) ranges.set(partition, { next, end: high });
  }
  return ranges;
}

interface ReadingOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly topic: string;
  readonly ranges: Map<number, Range>;
  readonly visit: Visit;
  readonly bounds: () => Promise<Bounds>;
}

/** An error of the caller's own, which a retry does not fix. */
class VisitError extends Error {
  override readonly name = 'VisitError';
}

/** One reading: one leader at a time, so that records are visited one after the other. */
class Reading {
  readonly #options: ReadingOptions;
  #progressAt: number;
  #isVisiting = false;
  #isConnected = false;
  #isEnded = false;
  #failure: unknown;
  #reject: (error: Error) => void = () => {};
  #cancelWatch: () => void = () => {};

  constructor(options: ReadingOptions) {
    this.#options = options;
    this.#progressAt = options.clock.now();
  }

  /** Ends at the latest when nothing arrived for too long, whatever the requests in progress do. */
  async run(): Promise<void> {
    const failed = new Promise<never>((_, reject) => {
      this.#reject = reject;
    });
    this.#watch();
    try {
      await Promise.race([this.#readAll(), failed]);
    } finally {
      this.#isEnded = true;
      this.#cancelWatch();
    }
  }

  fail(error: Error): void {
    this.#reject(error);
  }

  #watch(): void {
    const { clock, topic } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + TICK_MS, () => {
      if (this.#isVisiting) this.#progressAt = clock.now();
      if (clock.now() - this.#progressAt > NO_PROGRESS_MS_MAX) {
        const why = this.#failure === undefined ? '' : ` (${errorLine(this.#failure)})`;
        const seconds = NO_PROGRESS_MS_MAX / 1000;
        this.fail(
          new Error(`topic ${topic} could not be read: no record arrived for ${seconds} s${why}; try again`),
        );
      } else this.#watch();
    });
  }

  async #readAll(): Promise<void> {
    const { clock, ranges } = this.#options;
    while (ranges.size > 0 && !this.#isEnded) {
      const before = this.#position();
      this.#failure = undefined;
      try {
        await this.#connect();
        for (const [leader, partitions] of this.#leaders()) await this.#fetch(leader, partitions);
      } catch (error) {
        if (error instanceof VisitError) throw error.cause;
        this.#failure = error;
      }
      if (this.#failure === undefined && this.#position() !== before) continue;
      if (ranges.size === 0 || this.#isEnded) return;
      await clock.sleep(AGAIN_MS);
      await this.#lookAgain();
    }
  }

  #position(): number {
    let sum = 0;
    for (const { next } of this.#options.ranges.values()) sum += next;
    return sum;
  }

  async #connect(): Promise<void> {
    if (this.#isConnected) return;
    const { cluster, topic } = this.#options;
    await cluster.connect();
    await cluster.addMultipleTargetTopics([topic]);
    this.#isConnected = true;
  }

  #leaders(): Map<number, number[]> {
    const { cluster, ranges, topic } = this.#options;
    const leaders = new Map<number, number[]>();
    for (const { partitionId, leader } of cluster.findTopicPartitionMetadata(topic)) {
      if (!ranges.has(partitionId) || leader < 0) continue;
      leaders.set(leader, [...(leaders.get(leader) ?? []), partitionId]);
    }
    return leaders;
  }

  async #fetch(leader: number, partitions: readonly number[]): Promise<void> {
    const { cluster, ranges, topic } = this.#options;
    const asked = partitions.map((partition) => {
      const fetchOffset = `${ranges.get(partition)?.next ?? 0}`;
      return { partition, fetchOffset, maxBytes: PARTITION_BYTES };
    });
    const broker = await cluster.findBroker({ nodeId: leader });
    const { responses } = await broker.fetch({
      maxWaitTime: FETCH_WAIT_MS,
      minBytes: 1,
      maxBytes: FETCH_BYTES,
      topics: [{ topic, partitions: asked }],
    });
    for (const fetched of responses.flatMap((response) => response.partitions)) await this.#take(fetched);
  }

  async #take(fetched: FetchedPartition): Promise<void> {
    const { clock, ranges, topic, visit } = this.#options;
    const { partition } = fetched;
    const range = ranges.get(partition);
    if (!range) return;
    const { messages, rawMessages } = batchOf(topic, range.next, fetched);
    if (messages.some(isOutOfRange)) throw new Error(`offset ${range.next} is not in partition ${partition}`);
    for (const { offset: text, timestamp, key, value } of messages) {
      const offset = Number(text);
      if (offset >= range.end || this.#isEnded) break;
      try {
        const visiting = visit({ partition, offset, timestamp: Number(timestamp), key, value });
        this.#isVisiting = true;
        if (visiting) await visiting;
      } catch (error) {
        throw new VisitError('visit threw', { cause: error });
      } finally {
        this.#isVisiting = false;
      }
    }
    if (rawMessages.length > 0) this.#progressAt = clock.now();
    range.next = Math.max(range.next, Number(rawMessages.at(-1)?.offset ?? -1) + 1);
    if (range.next >= range.end) ranges.delete(partition);
  }

  /** Reads the bounds again: leaders may have moved, and retention may have deleted the next records. */
  async #lookAgain(): Promise<void> {
    const { bounds, cluster, ranges } = this.#options;
    await cluster.refreshMetadata().catch(() => {
      this.#isConnected = false;
    });
    const known = await bounds().catch(() => null);
    for (const [partition, range] of known ? [...ranges] : []) {
      range.next = Math.max(range.next, known?.get(partition)?.low ?? 0);
      if (range.next >= range.end) ranges.delete(partition);
    }
  }
}
