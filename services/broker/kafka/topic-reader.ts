import type { EachBatchPayload, Kafka } from 'kafkajs';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Admins } from './admins.ts';
import type { ConsumerClient } from './consumer-client.ts';
import { errorLine } from './error-line.ts';
import { loneConsumer } from './lone-consumer.ts';

const FETCH_BYTES = 1024 * 1024;
const TICK_MS = 1000;
/** Nothing came for so long: whoever asked is told so. */
const NO_PROGRESS_MS_MAX = 10_000;

export interface TopicReaderOptions {
  readonly kafka: Kafka;
  readonly admins: Admins;
  readonly clock: Clock;
  readonly random: Random;
  /** What our consumer groups' names begin with. */
  readonly groupPrefix: string;
}

export interface TopicRecord {
  readonly partition: number;
  readonly offset: number;
  /** LogAppendTime where the topic has it, milliseconds since the epoch. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/** By partition, the first offset to read; partitions that are left out are not read. */
export type Starts = ReadonlyMap<number, number>;

/** Reads what lies in a topic now, and no further, for questions that are asked now and then. */
export class TopicReader {
  readonly #options: TopicReaderOptions;
  readonly #reading = new Set<Reading>();
  readonly #leaving = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: TopicReaderOptions) {
    this.#options = options;
  }

  /**
   * Hands over every record that the topic holds at the call, at or after `starts` (undefined: all), in order within each
   * partition. Rejects with one line when nothing comes for 10 s. Costs one question when there is nothing to read.
   */
  async read(topic: string, starts: Starts | undefined, visit: (record: TopicRecord) => void): Promise<void> {
    if (this.#isClosed) throw new Error('the broker is closed');
    const { clock, groupPrefix, kafka, random } = this.#options;
    const ranges = rangesOf(await this.#bounds(topic), starts);
    if (ranges.size === 0) return;
    if (this.#isClosed) throw new Error('the broker is closed');
    const groupId = `${groupPrefix}reader.${random.uuid()}`;
    const client = loneConsumer({ kafka, clock, topic, groupId, bytesPerPartition: FETCH_BYTES });
    const bounds = () => this.#bounds(topic);
    const reading = new Reading({ client, clock, topic, ranges, visit, bounds });
    this.#reading.add(reading);
    try {
      await reading.run();
    } finally {
      this.#reading.delete(reading);
      // Nobody waits for the good-bye.
      const left = client.letGo().then(() => {
        this.#leaving.delete(left);
      });
      this.#leaving.add(left);
    }
  }

  /** Where the records of this time and later begin, by partition. */
  async startsAt(topic: string, timestamp: number): Promise<Starts> {
    const offsets = await this.#options.admins.ask((admin) =>
      admin.fetchTopicOffsetsByTimestamp(topic, timestamp),
    );
    return new Map(offsets.map(({ partition, offset }) => [partition, Number(offset)]));
  }

  /** What is being read is rejected. May be called twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const reading of this.#reading) reading.fail(new Error('the broker is closed'));
    await Promise.resolve();
    await Promise.all(this.#leaving);
  }

  /** A question of its own: an answer shared with who asked earlier may lack what was acknowledged in between. */
  async #bounds(topic: string): Promise<Bounds> {
    const offsets = await this.#options.admins.ask((admin) => admin.fetchTopicOffsets(topic));
    return new Map(
      offsets.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]),
    );
  }
}

type Bounds = ReadonlyMap<number, { readonly low: number; readonly high: number }>;

/** What is still to be read of a partition: from `next` to before `end`. */
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
  readonly client: ConsumerClient;
  readonly clock: Clock;
  readonly topic: string;
  readonly ranges: Map<number, Range>;
  readonly visit: (record: TopicRecord) => void;
  readonly bounds: () => Promise<Bounds>;
}

/** One question's reading. */
class Reading {
  readonly #options: ReadingOptions;
  #progressAt: number;
  #resolve: () => void = () => {};
  #reject: (error: Error) => void = () => {};
  #cancelWatch: () => void = () => {};
  #isOver = false;

  constructor(options: ReadingOptions) {
    this.#options = options;
    this.#progressAt = options.clock.now();
  }

  async run(): Promise<void> {
    const over = new Promise<void>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#watch();
    void this.#start();
    try {
      await over;
    } finally {
      this.#isOver = true;
      this.#cancelWatch();
    }
  }

  fail(error: Error): void {
    this.#reject(error);
  }

  async #start(): Promise<void> {
    const { client, topic } = this.#options;
    const { consumer } = client;
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) =>
      this.#joined(payload.memberAssignment[topic] ?? []),
    );
    consumer.on(consumer.events.CRASH, ({ payload }) => this.#failBecause(payload.error));
    try {
      await client.start(async (payload) => {
        if (!this.#isOver) this.#take(payload);
      });
    } catch (error) {
      this.#failBecause(error);
    }
  }

  #failBecause(error: unknown): void {
    this.#reject(new Error(`topic ${this.#options.topic} could not be read: ${errorLine(error)}`));
  }

  /** Runs before anything is fetched. */
  #joined(assigned: readonly number[]): void {
    const { client, ranges } = this.#options;
    for (const partition of assigned) {
      const range = ranges.get(partition);
      if (range) client.seek(partition, range.next);
      else client.pause(partition);
    }
  }

  #take({ batch }: EachBatchPayload): void {
    const { clock, ranges, visit } = this.#options;
    const { partition } = batch;
    const range = ranges.get(partition);
    if (!range) return;
    for (const { offset: text, timestamp, key, value } of batch.messages) {
      const offset = Number(text);
      if (offset < range.next) continue;
      range.next = offset + 1;
      if (offset >= range.end) break;
      visit({ partition, offset, timestamp: Number(timestamp), key, value });
    }
    this.#progressAt = clock.now();
    this.#settle(partition, range);
  }

  #settle(partition: number, range: Range): void {
    const { client, ranges } = this.#options;
    if (range.next < range.end) return;
    ranges.delete(partition);
    if (ranges.size === 0) this.#resolve();
    else client.pause(partition);
  }

  #watch(): void {
    const { clock, topic } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + TICK_MS, () => {
      const quietMs = clock.now() - this.#progressAt;
      if (quietMs > NO_PROGRESS_MS_MAX) {
        const seconds = NO_PROGRESS_MS_MAX / 1000;
        this.#reject(new Error(`topic ${topic} could not be read: nothing came for ${seconds} s; try again`));
        return;
      }
      if (quietMs > TICK_MS) void this.#lookAtBounds();
      this.#watch();
    });
  }

  /** Retention may delete what we are about to read. */
  async #lookAtBounds(): Promise<void> {
    const { bounds, ranges } = this.#options;
    const known = await bounds().catch(() => null);
    if (!known || this.#isOver) return;
    for (const [partition, range] of [...ranges]) {
      range.next = Math.max(range.next, known.get(partition)?.low ?? 0);
      this.#settle(partition, range);
    }
  }
}
