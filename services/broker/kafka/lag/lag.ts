import type { Admins } from '../../../kafka-client/client/admins.ts';
import type { BrokerTime } from '../../../kafka-client/client/broker-time.ts';
import type { Partition, ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { TopicConsumerOptions } from '../../../kafka-client/consumer/topic-consumer-options.ts';
import type { Clock } from '../../../process/clock.ts';
import type { PartitionStatus, StreamName } from '../../broker-status.ts';
import { PartitionLag } from './lag-place.ts';
import type { LagTopic } from './lag-topics.ts';
import { OthersTasks } from './others-tasks.ts';

/** The interval of requests for the ends of this process's partitions. */
const ASK_MS = 5000;
/** The interval of requests for the other partitions, while the backlog of all streams is being read. */
const ASK_ALL_MS = 2000;
/** The time for which these continue after the last such read. */
const WANTED_MS = 10_000;
const OPEN_MS_MAX = 15_000;
/** The longest wait for silent partitions at the start: new topics have no leaders yet. */
const OPEN_SILENT_MS_MAX = 3000;
const OPEN_PAUSE_MS = 100;
const ANSWERED_MS_MAX = 20_000;

type BacklogByStream = Record<StreamName, number>;

/**
 * The number and age of the records that wait in each stream. This process knows without a request what it writes,
 * reads and settles; it requests the ends of its partitions every five seconds, from each broker once. Other processes'
 * partitions are requested only while the backlog of whole streams, or the age of first attempts, is being read.
 */
export class Lag {
  readonly #admins: Admins;
  readonly #clock: Clock;
  readonly #topics: readonly LagTopic[];
  readonly #retentionOf: (topic: string) => number | null;
  readonly #places = new Map<string, Map<number, PartitionLag>>();
  readonly #others: OthersTasks;
  readonly #time: Pick<BrokerTime, 'isKnown' | 'now'> | null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #askedAllAt = Number.NEGATIVE_INFINITY;
  #wantedAt: number;
  #cancel: () => void = () => {};
  #isAsking = false;
  #isClosed = false;

  /**
   * `retentionOf`: how long the brokers keep a topic's records, milliseconds; null = not known, or for ever. `time`:
   * the clock that records' times are compared with; without it, this machine's.
   */
  constructor(
    admins: Admins,
    clock: Clock,
    topics: readonly LagTopic[],
    retentionOf: (topic: string) => number | null,
    time: Pick<BrokerTime, 'isKnown' | 'now'> | null = null,
  ) {
    this.#admins = admins;
    this.#clock = clock;
    this.#topics = topics;
    this.#retentionOf = retentionOf;
    this.#time = time;
    this.#wantedAt = clock.now();
    for (const { topic } of topics) this.#places.set(topic, new Map());
    this.#others = new OthersTasks({
      ...{ admins, clock, topics: topics.filter(({ stream }) => stream === 'tasks') },
      places: (topic) => this.#places.get(topic)?.values() ?? [],
      place: (topic, id) => this.#place(topic, id),
    });
  }

  /** Requests bounds until they arrive, within seconds. Then continues in the background. */
  async open(): Promise<void> {
    const begun = this.#clock.now();
    for (;;) {
      try {
        await this.#askAll();
        const isWhole = this.#admins.troubles.length === 0;
        if (isWhole || this.#clock.now() - begun > OPEN_SILENT_MS_MAX) break;
      } catch (error) {
        if (this.#clock.now() - begun > OPEN_MS_MAX) throw error;
      }
      await this.#clock.sleep(OPEN_PAUSE_MS);
    }
    this.#askAgain();
  }

  /** Whether brokers responded lately. */
  get isAnswered(): boolean {
    return this.#clock.now() - this.#askedAt < ANSWERED_MS_MAX;
  }

  appended(topic: string, id: number, offset: number): void {
    this.#place(topic, id)?.appended(offset, this.#clock.now());
  }

  /** Wraps the options of a topic's consumer so that this object sees its records. */
  watching(topic: string, given: Pick<TopicConsumerOptions, 'assigned' | 'take'>) {
    const place = (partition: number) => this.#place(topic, partition);
    return {
      assigned: (partition: Partition) => {
        place(partition.id)?.heldBy(partition, this.#clock.now());
        given.assigned?.(partition);
      },
      take: (record: ReadRecord) => {
        const { partition, offset, timestamp, isDone } = record;
        if (!isDone) place(partition.id)?.taken(partition, offset, timestamp);
        given.take(record);
      },
      settled: ({ partition, offset }: ReadRecord) => place(partition.id)?.settled(partition, offset),
      committed: (partition: number, offset: number) =>
        place(partition)?.committed(offset, this.#clock.now()),
      commitFailed: () => {
        for (const one of this.#places.get(topic)?.values() ?? []) if (one.isHeld) one.commitFailures += 1;
      },
      lost: (partition: number, count: number) => {
        const found = place(partition);
        if (found) found.lost += count;
      },
      outOfRange: (partition: number) => {
        const found = place(partition);
        if (found) found.outOfRange += 1;
      },
    };
  }

  /** Returns the backlog of whole streams, whoever reads them. */
  backlog(): BacklogByStream {
    const now = this.#clock.now();
    this.#wantedAt = now;
    if (now - this.#askedAllAt >= ASK_ALL_MS) void this.#ask().catch(() => {});
    const sums = { events: 0, tasks: 0, delayed: 0, journal: 0 };
    this.#each((place, { stream }) => {
      sums[stream] += place.left;
    });
    return sums;
  }

  /** Returns how long first attempts have waited in partitions that this process does not read: see OthersTasks. */
  othersWaitingMs(): number | null {
    return this.#others.waitingMs();
  }

  /** Returns the partitions that this process reads. */
  partitions(): PartitionStatus[] {
    const at = { now: this.#clock.now(), wall: this.#time?.isKnown ? this.#time.now() : this.#clock.wall() };
    const found: PartitionStatus[] = [];
    this.#each((place, lagTopic) => {
      if (place.isHeld || place.lost > 0 || place.outOfRange > 0) {
        found.push(place.status(lagTopic, this.#retentionOf(lagTopic.topic), at));
      }
    });
    return found;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #each(visit: (place: PartitionLag, topic: LagTopic) => void): void {
    for (const topic of this.#topics) {
      for (const place of this.#places.get(topic.topic)?.values() ?? []) visit(place, topic);
    }
  }

  #askAgain(): void {
    this.#cancel = this.#clock.at(this.#clock.now() + ASK_MS, () => {
      this.#others.askIfWanted();
      this.#ask()
        .catch(() => {})
        .finally(() => {
          if (!this.#isClosed) this.#askAgain();
        });
    });
  }

  async #ask(): Promise<void> {
    if (this.#isAsking || this.#isClosed) return;
    this.#isAsking = true;
    try {
      if (this.#clock.now() - this.#wantedAt < WANTED_MS) await this.#askAll();
      else await this.#askOwn();
    } finally {
      this.#isAsking = false;
    }
  }

  async #askAll(): Promise<void> {
    this.#askedAllAt = this.#clock.now();
    const names = this.#topics.map(({ topic }) => topic);
    const [starts, ends, ...commits] = await Promise.all([
      this.#admins.startsOf(names),
      this.#admins.endsOf(names),
      ...this.#topics.map(({ groupId, topic }) => this.#admins.commitsOf(groupId, topic)),
    ]);
    const now = this.#clock.now();
    for (const [index, { topic }] of this.#topics.entries()) {
      for (const [id, end] of ends.get(topic) ?? []) {
        const first = starts.get(topic)?.get(id);
        if (first === undefined) continue;
        const done = Math.max(commits[index]?.get(id)?.offset ?? 0, first);
        this.#place(topic, id)?.asked(end, now, done);
      }
    }
    this.#askedAt = now;
  }

  async #askOwn(): Promise<void> {
    const own = this.#topics.flatMap(({ topic }) => {
      const places = [...(this.#places.get(topic) ?? [])].filter(([, { isHeld }]) => isHeld);
      return places.length === 0 ? [] : [{ topic, partitions: places.map(([id]) => id) }];
    });
    const ends = await this.#admins.endsOfPartitions(own);
    const now = this.#clock.now();
    for (const [topic, partitions] of ends) {
      for (const [id, end] of partitions) this.#place(topic, id)?.asked(end, now);
    }
    this.#askedAt = now;
  }

  #place(topic: string, id: number): PartitionLag | undefined {
    const places = this.#places.get(topic);
    if (!places) return undefined;
    let place = places.get(id);
    if (!place) {
      place = new PartitionLag(id);
      places.set(id, place);
    }
    return place;
  }
}
