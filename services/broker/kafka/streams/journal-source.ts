import { setMaxListeners } from 'node:events';
import { PositionLost } from '../../../domain/journal.ts';
import type { Partition, ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { TopicConsumer } from '../../../kafka-client/consumer/topic-consumer.ts';
import type { TopicConsumerOptions } from '../../../kafka-client/consumer/topic-consumer-options.ts';
import type { Clock } from '../../../process/clock.ts';
import { growingPause } from '../../../process/growing-pause.ts';
import type { Consumer, JournalBatch, JournalSource } from '../../broker.ts';
import { JournalOutage } from '../../journal-outage.ts';
import { JOURNAL_RECORD_MAX } from '../registry/records.ts';
import { JournalBatches, type JournalRecordDeps } from './journal-batches.ts';
import {
  gatherMs,
  JOURNAL_HELD,
  newPartitionJournal,
  opensAgain,
  type PartitionJournal,
} from './partition-journal.ts';
import { AGAIN_MS } from './stream-feed.ts';

const PAUSE_MS = 100;
/** Short, so that the log catches up as soon as its store is back. */
const PAUSE_MS_MAX = 5000;

type OpenOptions = 'take' | 'changed' | 'startOf' | keyof typeof JOURNAL_HELD;

export interface JournalDeps extends JournalRecordDeps {
  readonly clock: Clock;
  /** Positions count within one incarnation of the cluster. */
  readonly clusterId: string;
  readonly open: (options: Pick<TopicConsumerOptions, OpenOptions>) => TopicConsumer;
}

type Handler = (batch: JournalBatch) => Promise<void>;

/** The journal's partitions, each handed over in batches, one at a time and in order. */
export class KafkaJournal implements JournalSource {
  readonly #deps: JournalDeps;
  #consumer: KafkaJournalConsumer | null = null;

  constructor(deps: JournalDeps) {
    this.#deps = deps;
  }

  async consume(
    handler: Handler,
    positionOf: (partition: string) => Promise<number | undefined>,
    limits: { readonly batchMax: number },
  ): Promise<Consumer> {
    if (this.#consumer && !this.#consumer.stopped) throw new Error('the journal has a consumer already');
    const consumer = new KafkaJournalConsumer(this.#deps, handler, positionOf, limits.batchMax);
    this.#consumer = consumer;
    await consumer.start();
    return consumer;
  }

  get stuck(): { readonly count: number; readonly since: number } {
    return this.#consumer?.stuck ?? { count: 0, since: Number.POSITIVE_INFINITY };
  }

  async stop(deadlineMs: number): Promise<void> {
    await this.#consumer?.stop(deadlineMs);
  }

  async abandon(): Promise<void> {
    await this.#consumer?.abandon();
  }
}

class KafkaJournalConsumer implements Consumer {
  readonly #deps: JournalDeps;
  readonly #handler: Handler;
  readonly #batches: JournalBatches;
  /** The store's position when the reading of a partition began, by the partition's number. */
  readonly #starts = new Map<number, number | undefined>();
  readonly #journals = new Map<Partition, PartitionJournal>();
  readonly #topic: TopicConsumer;
  readonly #stopping = new AbortController();
  readonly #outage: JournalOutage;
  #paused = false;
  #stop: Promise<'drained' | 'abandoned'> | null = null;
  #abandoned = false;
  #looking: Promise<void> | null = null;
  stopped = false;

  constructor(
    deps: JournalDeps,
    handler: Handler,
    positionOf: (partition: string) => Promise<number | undefined>,
    batchMax: number,
  ) {
    this.#deps = deps;
    this.#handler = handler;
    this.#outage = new JournalOutage(deps.log);
    // Each partition may wait with it.
    setMaxListeners(0, this.#stopping.signal);
    const nameOf = (id: number, topicId: string | null) => partitionName(deps, id, topicId);
    const dropped = (record: ReadRecord) => this.#topic.done(record);
    this.#batches = new JournalBatches({ ...deps, nameOf, dropped }, batchMax);
    this.#topic = deps.open({
      ...JOURNAL_HELD,
      take: (record) => this.#take(record),
      startOf: async (id, { topicId, isCommitted }) => {
        let position = await positionOf(nameOf(id, topicId));
        this.#starts.set(id, position);
        // Earlier versions named partitions without the topic's id.
        if (position === undefined && isCommitted) position = await positionOf(nameOf(id, null));
        // The record may have entries that the store lacks; it ignores those that it has.
        return position === undefined ? undefined : Math.floor(position / JOURNAL_RECORD_MAX);
      },
      changed: () => this.#forgetDead(),
    });
  }

  start(): Promise<void> {
    return this.#topic.start();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#wakeAll();
  }

  get stuck(): { readonly count: number; readonly since: number } {
    const failing = [...this.#journals.values()].filter(({ failures }) => failures > 0);
    return { count: failing.length, since: Math.min(...failing.map(({ failingSince }) => failingSince)) };
  }

  stop(deadlineMs: number): Promise<'drained' | 'abandoned'> {
    this.#stop ??= this.#drain(deadlineMs);
    return this.#stop;
  }

  async abandon(): Promise<void> {
    this.#abandoned = true;
    this.#stop ??= Promise.resolve('abandoned');
    this.#stopping.abort();
    this.stopped = true;
    await this.#topic.abandon();
  }

  #take(record: ReadRecord): void {
    let journal = this.#journals.get(record.partition);
    if (!journal) {
      journal = newPartitionJournal(record.partition, this.#starts.get(record.partition.id));
      this.#journals.set(record.partition, journal);
    }
    journal.waiting.push(record);
    // After the whole fetch was handed over: larger batches.
    queueMicrotask(() => journal && this.#wake(journal));
  }

  #wakeAll(): void {
    for (const journal of this.#journals.values()) this.#wake(journal);
  }

  /**
   * Starts a partition's work. Without the pause while membership is unsure, it would call itself for ever and block the
   * process.
   */
  #wake(journal: PartitionJournal): void {
    const { working, waiting, partition } = journal;
    if (working || this.#paused || this.#stop || waiting.length === 0 || !partition.isAlive) return;
    if (!this.#topic.isTrusted) {
      this.#lookAgain();
      return;
    }
    journal.working = this.#work(journal).finally(() => {
      journal.working = null;
      this.#wake(journal);
    });
  }

  #lookAgain(): void {
    this.#looking ??= this.#deps.clock.sleep(AGAIN_MS, this.#stopping.signal).then(() => {
      this.#looking = null;
      this.#wakeAll();
    });
  }

  async #work(journal: PartitionJournal): Promise<void> {
    while (!this.#paused && !this.#stop && journal.partition.isAlive && this.#topic.isTrusted) {
      try {
        journal.held ??= await this.#batches.next(journal);
        if (!journal.held) return;
        await this.#handler(journal.held.batch);
      } catch (error) {
        if (this.#abandoned) return;
        if (error instanceof PositionLost) return this.#readAgain(journal, error);
        if (opensAgain(journal)) continue;
        await this.#pauseAfter(journal, error);
        continue;
      }
      if (this.#abandoned) return;
      const { records, batch } = journal.held;
      journal.held = null;
      journal.after = batch.last;
      journal.failures = 0;
      if (this.stuck.count === 0) this.#outage.succeeded();
      journal.isSuspect = false;
      journal.waiting.splice(0, records.length);
      for (const record of records) this.#topic.done(record);
      const pause = gatherMs(journal.partition, batch.entries.length, this.#deps.clock.now());
      if (pause > 0) await this.#deps.clock.sleep(pause, this.#stopping.signal);
    }
  }

  async #pauseAfter(journal: PartitionJournal, error: unknown): Promise<void> {
    const { clock } = this.#deps;
    if (journal.failures === 0) journal.failingSince = clock.now();
    journal.failures += 1;
    this.#outage.failed(error, journal.held?.batch);
    const pause = growingPause(journal.failures, PAUSE_MS, PAUSE_MS_MAX);
    await clock.sleep(pause, this.#stopping.signal);
  }

  /** The store was set back: the partition is read again from where it is now. */
  #readAgain({ partition }: PartitionJournal, { message }: PositionLost): void {
    const { log, topic } = this.#deps;
    log.warn(
      { topic, partition: partition.id, detail: message },
      'the log was set back, reading the journal again',
    );
    this.#topic.readAgain(partition);
  }

  #forgetDead(): void {
    for (const partition of this.#journals.keys()) if (!partition.isAlive) this.#journals.delete(partition);
    this.#wakeAll();
  }

  async #drain(deadlineMs: number): Promise<'drained' | 'abandoned'> {
    const { clock } = this.#deps;
    this.#stopping.abort();
    const until = clock.now() + deadlineMs;
    const limit = new AbortController();
    const working = Promise.all([...this.#journals.values()].map((journal) => journal.working));
    const late = clock.sleep(deadlineMs, limit.signal).then(() => false);
    const inTime = await Promise.race([working.then(() => true), late]);
    limit.abort();
    this.#abandoned = true;
    await this.#topic.stop(Math.max(0, until - clock.now()));
    this.stopped = true;
    return inTime ? 'drained' : 'abandoned';
  }
}

/** Returns a partition's name. A topic that is created again has other partitions, which begin at 0 again. */
function partitionName({ clusterId, topic }: JournalDeps, id: number, topicId: string | null): string {
  const name = `kafka:${clusterId}:${topic}:${id}`;
  return topicId === null ? name : `${name}:${topicId}`;
}
