import { TIERS, type Tier } from '../../../domain/retry.ts';
import { type DeliveryTask, TASK_CLASSES, type TaskClass } from '../../../domain/task.ts';
import type { BrokerTime } from '../../../kafka-client/client/broker-time.ts';
import type { Partition, ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { TopicConsumer } from '../../../kafka-client/consumer/topic-consumer.ts';
import type { TopicConsumerOptions } from '../../../kafka-client/consumer/topic-consumer-options.ts';
import { messageOf } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { ParkedStatus } from '../../broker-status.ts';
import { ParkedTally } from '../../parked-tally.ts';
import type { KafkaRecords } from '../registry/records.ts';
import type { IdsBudget } from '../seen/ids-budget.ts';
import { SeenTasks } from '../seen/seen-tasks.ts';
import { dueTime, dueWindow } from '../time/due-time.ts';
import type { TopicNames } from '../topics/topic-spec.ts';
import { DelayedFeed } from './delayed-feed.ts';
import { type RecordReader, StreamFeed } from './stream-feed.ts';
import { taskMark } from './task-wire.ts';

/**
 * The time that a task is remembered, in the log's own time. A second copy of a first attempt arrives when a router's
 * work is repeated, within the session time-out. A copy of a retry may have been parked in between, for at most 731 s.
 */
const SEEN_FIRST_MS = 120_000;
const SEEN_RETRY_MS = 900_000;
/**
 * The longest wait of the long tiers' fetches for records. A record ends the wait at once, so it only decides what an
 * idle topic costs, and how soon reading continues after a pause. Records of the long tiers are due much later.
 */
const LONG_TIER_WAIT_MS = 1000;
const TIER_WAIT_MS = 250;
const STREAM_WAIT_MS = 100;
const HELD_MAX = { stream: 1000, tier: 400 } as const;
const HELD_BYTES_MAX = 512 * 1024;
const JOINED_MS_MAX = 15_000;

export type OpenTopic = (
  topic: string,
  options: Omit<
    TopicConsumerOptions,
    | 'kafka'
    | 'admins'
    | 'clock'
    | 'log'
    | 'topic'
    | 'groupId'
    | 'committed'
    | 'settled'
    | 'commitFailed'
    | 'lost'
    | 'unreadable'
    | 'topicId'
  >,
) => TopicConsumer;

export interface TaskStreamsDeps {
  readonly records: KafkaRecords;
  readonly topics: TopicNames;
  readonly clock: Clock;
  readonly time: BrokerTime;
  /** Writes a record whose acknowledgement contains the brokers' time. */
  readonly askTime: () => void;
  readonly retryScale: number;
  /** The memory of tasks that all partitions share, to recognise copies. */
  readonly seen: IdsBudget;
  readonly open: OpenTopic;
  /**
   * Returns whether an attempt's results can be written. While they cannot, none is started: a crash, or the loss of
   * its partition, would repeat the request.
   */
  readonly mayBegin: () => boolean;
  /** Returns whether a record of this key on a topic will be acknowledged soon. */
  readonly mayWrite: (topic: string, key: string) => boolean;
  /** A record cannot be read; calls back when it is kept for operators. */
  readonly poison: (record: ReadRecord, detail: string, done: () => void) => void;
  readonly closing: AbortSignal;
}

/** The topics of tasks as feeds, two per class: tasks that are due now, and delayed ones. */
export class TaskStreams {
  readonly now: Readonly<Record<TaskClass, StreamFeed<DeliveryTask>>>;
  readonly delayed: Readonly<Record<TaskClass, DelayedFeed>>;
  readonly #deps: TaskStreamsDeps;
  readonly #own = new Map<TaskClass, TopicConsumer>();
  #tiers: TopicConsumer[] = [];
  readonly #seen = new Map<Partition, SeenTasks>();
  readonly #users = new Set<TaskClass>();
  readonly #begun = new Set<TaskClass>();
  #patientUntil = 0;
  readonly #impatient = new Map<TaskClass, () => void>();

  constructor(deps: TaskStreamsDeps) {
    this.#deps = deps;
    const now = (taskClass: TaskClass) => this.#stream(taskClass);
    const delayed = () => {
      const decode = (record: ReadRecord, tier: RecordReader) =>
        this.#decode(record, (done) => tier.done(done));
      return new DelayedFeed({ ...deps, decode });
    };
    this.now = { live: now('live'), test: now('test'), replay: now('replay') };
    this.delayed = { live: delayed(), test: delayed(), replay: delayed() };
    deps.time.onGain = () => {
      for (const feed of Object.values(this.delayed)) feed.onAvailable();
    };
  }

  /** Reads the class's topic, and the tiers once any class is read. */
  async start(taskClass: TaskClass): Promise<void> {
    const { topics, open } = this.#deps;
    const topic = { live: topics.deliver, test: topics.test, replay: topics.replay }[taskClass];
    const feed = this.now[taskClass];
    const own = open(topic, {
      maxWaitMs: STREAM_WAIT_MS,
      heldMax: HELD_MAX.stream,
      heldBytesMax: HELD_BYTES_MAX,
      isCopy: (record) => this.#isCopy(record),
      mayBegin: this.#deps.mayBegin,
      take: (record) => feed.add(record),
      assigned: (partition) => this.#remember(partition, SEEN_FIRST_MS),
      changed: () => {
        this.#forgetLost();
        feed.prune();
      },
    });
    this.#own.set(taskClass, own);
    this.#users.add(taskClass);
    if (this.#users.size === 1) {
      this.#tiers = TIERS.map((tier) => this.#tier(tier));
      this.#deps.time.keepKnown(this.#deps.askTime);
    }
    this.#patientUntil = this.#deps.clock.now() + JOINED_MS_MAX;
    const cancel = this.#deps.clock.at(this.#patientUntil, () => feed.onAvailable());
    this.#impatient.set(taskClass, cancel);
    const starting = this.#users.size === 1 ? [own, ...this.#tiers] : [own];
    await Promise.all(starting.map((consumer) => consumer.start()));
  }

  /**
   * Returns whether tasks may be started: once all topics of the class have been joined, so that neither first attempts
   * nor delayed ones get a head start; or once that has taken too long.
   */
  mayBegin(taskClass: TaskClass): boolean {
    if (this.#begun.has(taskClass)) return true;
    const own = this.#own.get(taskClass);
    if (!own) return false;
    const isReady = [own, ...this.#tiers].every((consumer) => consumer.isReady);
    if (!isReady && this.#deps.clock.now() < this.#patientUntil) return false;
    this.#begun.add(taskClass);
    return true;
  }

  async stop(taskClass: TaskClass, deadlineMs: number): Promise<void> {
    const ending = this.#ending(taskClass);
    await Promise.all(ending.map((consumer) => consumer.stop(deadlineMs)));
    this.#forgetLost();
  }

  async abandon(): Promise<void> {
    const ending = TASK_CLASSES.flatMap((taskClass) => this.#ending(taskClass));
    for (const feed of Object.values(this.delayed)) feed.close();
    await Promise.all(ending.map((consumer) => consumer.abandon()));
  }

  /**
   * Returns when the oldest task that could be started arrived, by the brokers' time like `now`; undefined = none
   * waits.
   */
  oldestDue(now: number): number | undefined {
    const dues = TASK_CLASSES.flatMap((taskClass) => {
      const due = this.delayed[taskClass].nextDue;
      return [this.now[taskClass].oldest, due !== undefined && due <= now ? due : undefined];
    }).filter((due) => due !== undefined);
    return dues.length > 0 ? Math.min(...dues) : undefined;
  }

  /** Returns the parked tasks that were read and wait. `now`: this process's clock. */
  parked(now: number): ParkedStatus[] {
    return ParkedTally.read(
      TASK_CLASSES.flatMap((taskClass) => [...this.delayed[taskClass].parked]),
      now,
    );
  }

  #ending(taskClass: TaskClass): TopicConsumer[] {
    const own = this.#own.get(taskClass);
    this.#own.delete(taskClass);
    this.#impatient.get(taskClass)?.();
    this.#users.delete(taskClass);
    this.#begun.delete(taskClass);
    const tiers = this.#users.size === 0 ? this.#tiers : [];
    if (this.#users.size === 0) {
      this.#tiers = [];
      this.#deps.time.close();
    }
    return own ? [own, ...tiers] : tiers;
  }

  #stream(taskClass: TaskClass): StreamFeed<DeliveryTask> {
    const done = (record: ReadRecord) => this.#own.get(taskClass)?.done(record);
    return new StreamFeed<DeliveryTask>({
      ...this.#deps,
      reader: () => this.#own.get(taskClass) ?? null,
      mayBegin: (record) => this.#mayBeginRecord(record),
      decode: (record) => {
        const task = this.#decode(record, done);
        if (!task || task.dueAt === 0) return task;
        // It was put on this topic because it was due.
        return { ...task, dueAt: Math.min(this.#deps.time.toClock(task.dueAt), this.#deps.clock.now()) };
      },
    });
  }

  #tier(tier: Tier): TopicConsumer {
    const { topics, retryScale, records, time } = this.#deps;
    const delayMs = (tier * 1000) / retryScale;
    const consumer: TopicConsumer = this.#deps.open(topics.retry[tier], {
      maxWaitMs: delayMs > 60_000 ? LONG_TIER_WAIT_MS : TIER_WAIT_MS,
      heldMax: HELD_MAX.tier,
      heldBytesMax: HELD_BYTES_MAX,
      isCopy: (record) => this.#isCopy(record),
      mayBegin: this.#deps.mayBegin,
      take: (record) => {
        const mark = taskMark(record, records);
        const window = dueWindow(record.timestamp, tier, retryScale);
        time.read(record.timestamp);
        // Without a mark, decoding reports the fault when the earliest time has come.
        const due = mark ? dueTime(mark, window) : window.earliest;
        this.delayed[mark?.taskClass ?? 'live'].add(record, due, window, consumer, mark?.parked);
      },
      assigned: (partition) => this.#remember(partition, SEEN_RETRY_MS),
      changed: () => {
        this.#forgetLost();
        for (const taskClass of TASK_CLASSES) {
          this.now[taskClass].onAvailable();
          this.delayed[taskClass].onAvailable();
        }
      },
    });
    return consumer;
  }

  /** Returns whether a first attempt's results can be written. */
  mayBeginFirst(endpointId: string): boolean {
    return this.#deps.mayBegin() && this.#mayWriteResults(this.#deps.topics.deliver, endpointId);
  }

  #mayBeginRecord({ partition, key }: ReadRecord): boolean {
    return key === null || this.#mayWriteResults(partition.topic, key.toString());
  }

  /**
   * Returns whether the results of an attempt from this topic can be written: its journal entry, and the next task or
   * dead letter.
   */
  #mayWriteResults(topic: string, endpointId: string): boolean {
    const { topics, mayWrite } = this.#deps;
    const own = TIERS.findIndex((tier) => topics.retry[tier] === topic);
    const nextTier = TIERS[own + 1];
    const next = nextTier === undefined ? topics.dead : topics.retry[nextTier];
    return mayWrite(topics.journal, endpointId) && mayWrite(next, endpointId);
  }

  #remember(partition: Partition, windowMs: number): void {
    const seen = new SeenTasks(windowMs, this.#deps.seen, partition.next ?? 0);
    this.#seen.set(partition, seen);
    partition.windowStart = () => seen.start;
  }

  /** Forgets the tasks of partitions that are no longer ours. */
  #forgetLost(): void {
    for (const [partition, seen] of this.#seen) {
      if (partition.isAlive) continue;
      seen.close();
      this.#seen.delete(partition);
    }
  }

  #isCopy(record: ReadRecord): boolean {
    const mark = taskMark(record, this.#deps.records);
    const seen = this.#seen.get(record.partition);
    return mark !== undefined && (seen?.isCopy(mark.identity, record.offset, record.timestamp) ?? false);
  }

  #decode(record: ReadRecord, done: (record: ReadRecord) => void): DeliveryTask | undefined {
    try {
      return this.#deps.records.decode('task', record.value ?? Buffer.alloc(0));
    } catch (error) {
      this.#deps.poison(record, messageOf(error), () => done(record));
      return undefined;
    }
  }
}
