import { type JournalBatch, PositionLost } from '../../../domain/journal.ts';
import type { Partition, ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { TopicConsumer } from '../../../kafka-client/consumer/topic-consumer.ts';
import type { TopicConsumerOptions } from '../../../kafka-client/consumer/topic-consumer-options.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Consumer, JournalSource } from '../../broker.ts';
import { type JournalWork, journalWork } from '../../journal-work.ts';
import type { Feed } from '../../work.ts';
import { JOURNAL_RECORD_MAX } from '../registry/records.ts';
import { JournalBatches, type JournalRecordDeps } from './journal-batches.ts';
import { isHalfFull, JOURNAL_HELD, opensAgain, PartitionJournal } from './partition-journal.ts';
import { startedSource } from './started-source.ts';
import { AGAIN_MS } from './stream-feed.ts';

type OpenOptions = 'take' | 'changed' | 'startOf' | keyof typeof JOURNAL_HELD;

export interface JournalDeps extends JournalRecordDeps {
  readonly clock: Clock;
  /** Positions count within one incarnation of the cluster. */
  readonly clusterId: string;
  readonly open: (options: Pick<TopicConsumerOptions, OpenOptions>) => TopicConsumer;
}

type PositionOf = (partition: string) => Promise<number | undefined>;

/** The journal's partitions, each handed over in batches, one at a time and in order. */
export class KafkaJournal implements JournalSource, Feed<PartitionJournal> {
  readonly #deps: JournalDeps;
  readonly #work: JournalWork<PartitionJournal>;
  readonly #journals = new Map<Partition, PartitionJournal>();
  /** Of the present consumer. */
  #topic: TopicConsumer | null = null;
  #consumer: Consumer | null = null;
  #isTelling = false;
  #isLooking = false;
  onAvailable: () => void = () => {};
  /** Never called: whoever waits may be in another process. */
  onAwaited: () => void = () => {};

  constructor(deps: JournalDeps) {
    this.#deps = deps;
    this.#work = journalWork<PartitionJournal>({
      feed: this,
      batchOf: ({ held }) => held?.batch,
      accepted: (journal) => journal.accept(),
      clock: deps.clock,
      log: deps.log,
    });
  }

  async consume(
    handler: (batch: JournalBatch) => Promise<void>,
    positionOf: PositionOf,
    { batchMax }: { readonly batchMax: number },
  ): Promise<Consumer> {
    const nameOf = (id: number, topicId: string | null) => partitionName(this.#deps, id, topicId);
    const dropped = (record: ReadRecord) => this.#topic?.done(record);
    const batches = new JournalBatches({ ...this.#deps, nameOf, dropped }, batchMax);
    const reading = {
      start: () => this.#open(nameOf, positionOf),
      stop: async (deadlineMs: number) => this.#topic?.stop(deadlineMs),
    };
    const source = startedSource(this.#work, reading, this.#deps.clock);
    this.#consumer = await source.consume(
      (journal, signal) => this.#handOver(journal, batches, { handler, signal }),
      { inFlightMax: Number.POSITIVE_INFINITY },
    );
    return this.#consumer;
  }

  get isFull(): boolean {
    return [...this.#journals.keys()].some(isHalfFull);
  }

  get stuck(): { readonly count: number; readonly since: number } {
    return this.#work.stuck;
  }

  async stop(deadlineMs: number): Promise<void> {
    await this.#consumer?.stop(deadlineMs);
  }

  async abandon(): Promise<void> {
    void this.#work.stop(0);
    await this.#topic?.abandon();
  }

  take(): PartitionJournal | undefined {
    for (const journal of this.#journals.values()) {
      if (journal.isOut || journal.waiting.length === 0 || journal.ownership === 'lost') continue;
      if (journal.ownership === 'unsure') {
        this.#lookAgain();
        return undefined;
      }
      journal.isOut = true;
      return journal;
    }
    return undefined;
  }

  #open(nameOf: (id: number, topicId: string | null) => string, positionOf: PositionOf): Promise<void> {
    this.#journals.clear();
    /** The store's position when the reading of a partition began, by the partition's number. */
    const starts = new Map<number, number | undefined>();
    const topic = this.#deps.open({
      ...JOURNAL_HELD,
      take: (record) => this.#take(record, () => starts.get(record.partition.id)),
      startOf: async (id, topicId) => {
        const position = await positionOf(nameOf(id, topicId));
        starts.set(id, position);
        // The record may have entries that the store lacks; it ignores those that it has.
        return position === undefined ? undefined : Math.floor(position / JOURNAL_RECORD_MAX);
      },
      changed: () => this.#forgetDead(),
    });
    this.#topic = topic;
    return topic.start();
  }

  #take(record: ReadRecord, startOf: () => number | undefined): void {
    const { partition } = record;
    let journal = this.#journals.get(partition);
    if (!journal) {
      journal = new PartitionJournal(partition, startOf(), this.#topic as TopicConsumer);
      this.#journals.set(partition, journal);
    }
    journal.waiting.push(record);
    if (this.#isTelling) return;
    this.#isTelling = true;
    // After the whole fetch was handed over: larger batches.
    queueMicrotask(() => {
      this.#isTelling = false;
      this.onAvailable();
    });
  }

  #lookAgain(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock } = this.#deps;
    clock.at(clock.now() + AGAIN_MS, () => {
      this.#isLooking = false;
      this.onAvailable();
    });
  }

  /** Makes a partition's next batch and hands it over. Returns whether it was accepted; the turn is over otherwise. */
  async #handOver(
    journal: PartitionJournal,
    batches: JournalBatches,
    to: { readonly handler: (batch: JournalBatch) => Promise<void>; readonly signal: AbortSignal },
  ): Promise<boolean> {
    while (journal.ownership === 'owned') {
      try {
        journal.held ??= await batches.next(journal);
        if (!journal.held || to.signal.aborted) return false;
        await to.handler(journal.held.batch);
        return true;
      } catch (error) {
        if (error instanceof PositionLost) return this.#readAgain(journal, error);
        if (!opensAgain(journal)) throw error;
      }
    }
    return false;
  }

  /** The store was set back: the partition is read again from where it is now. */
  #readAgain({ partition }: PartitionJournal, { message }: PositionLost): false {
    const { log, topic } = this.#deps;
    log.warn(
      { topic, partition: partition.id, detail: message },
      'the log was set back, reading the journal again',
    );
    this.#topic?.readAgain(partition);
    return false;
  }

  #forgetDead(): void {
    for (const partition of this.#journals.keys()) if (!partition.isAlive) this.#journals.delete(partition);
    this.onAvailable();
  }
}

/** Returns a partition's name. A topic that is created again has other partitions, which begin at 0 again. */
function partitionName({ clusterId, topic }: JournalDeps, id: number, topicId: string | null): string {
  const name = `kafka:${clusterId}:${topic}:${id}`;
  return topicId === null ? name : `${name}:${topicId}`;
}
