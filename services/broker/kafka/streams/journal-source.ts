import { EncodedEntries } from '../../../codec/encoded-entries.ts';
import type { Clock } from '../../../process/clock.ts';
import { growingPause } from '../../../process/growing-pause.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Consumer, JournalBatch, JournalSource } from '../../broker.ts';
import type { Partition, ReadRecord } from '../consumer/partition.ts';
import type { TopicConsumer } from '../consumer/topic-consumer.ts';
import type { TopicConsumerOptions } from '../consumer/topic-consumer-options.ts';
import { JOURNAL_RECORD_MAX, type KafkaRecords } from '../registry/records.ts';
import { gatherMs, JOURNAL_HELD, type JournalLane, newJournalLane, opensAgain } from './journal-lane.ts';
import { AGAIN_MS } from './stream-feed.ts';

const PAUSE_MS = 100;
const PAUSE_MS_MAX = 30_000;

type OpenOptions = 'take' | 'changed' | 'startOf' | keyof typeof JOURNAL_HELD;

export interface JournalDeps {
  readonly records: KafkaRecords;
  readonly clock: Clock;
  readonly log: Logger;
  /** Positions count within one incarnation of the cluster. */
  readonly clusterId: string;
  readonly topic: string;
  readonly open: (options: Pick<TopicConsumerOptions, OpenOptions>) => TopicConsumer;
  /** Keeps a record that cannot be read, for operators; resolves when it is durable. */
  readonly quarantine: (record: ReadRecord, detail: string) => Promise<void>;
  readonly closing: AbortSignal;
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
  readonly #batchMax: number;
  readonly #lanes = new Map<Partition, JournalLane>();
  readonly #topic: TopicConsumer;
  readonly #stopping = new AbortController();
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
    this.#batchMax = batchMax;
    this.#topic = deps.open({
      ...JOURNAL_HELD,
      take: (record) => this.#take(record),
      startOf: async (id, { topicId, isCommitted }) => {
        let position = topicId === null ? undefined : await positionOf(this.#nameOf(id, topicId));
        // Earlier versions named partitions without the topic's id.
        if (position === undefined && (isCommitted || topicId === null)) {
          position = await positionOf(this.#nameOf(id, null));
        }
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
    const failing = [...this.#lanes.values()].filter(({ failures }) => failures > 0);
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
    let lane = this.#lanes.get(record.partition);
    if (!lane) {
      lane = newJournalLane(record.partition);
      this.#lanes.set(record.partition, lane);
    }
    lane.waiting.push(record);
    // After the whole fetch was handed over: larger batches.
    queueMicrotask(() => lane && this.#wake(lane));
  }

  #wakeAll(): void {
    for (const lane of this.#lanes.values()) this.#wake(lane);
  }

  /**
   * Starts a lane's work. Without the pause while membership is unsure, it would call itself for ever and block the
   * process.
   */
  #wake(lane: JournalLane): void {
    const { working, waiting, partition } = lane;
    if (working || this.#paused || this.#stop || waiting.length === 0 || !partition.isAlive) return;
    if (!this.#topic.isTrusted) {
      this.#lookAgain();
      return;
    }
    lane.working = this.#work(lane).finally(() => {
      lane.working = null;
      this.#wake(lane);
    });
  }

  #lookAgain(): void {
    this.#looking ??= this.#deps.clock.sleep(AGAIN_MS, this.#stopping.signal).then(() => {
      this.#looking = null;
      this.#wakeAll();
    });
  }

  async #work(lane: JournalLane): Promise<void> {
    while (!this.#paused && !this.#stop && lane.partition.isAlive && this.#topic.isTrusted) {
      try {
        lane.held ??= await this.#nextBatch(lane);
        if (!lane.held) return;
        await this.#handler(lane.held.batch);
      } catch (error) {
        if (this.#abandoned) return;
        if (opensAgain(lane)) continue;
        await this.#pauseAfter(lane, error);
        continue;
      }
      if (this.#abandoned) return;
      const { records, batch } = lane.held;
      lane.held = null;
      lane.failures = 0;
      lane.isSuspect = false;
      lane.waiting.splice(0, records.length);
      for (const record of records) this.#topic.done(record);
      const pause = gatherMs(lane.partition, batch.entries.length, this.#deps.clock.now());
      if (pause > 0) await this.#deps.clock.sleep(pause, this.#stopping.signal);
    }
  }

  /** Returns as many entries as may go together, up to a record that cannot be read. */
  async #nextBatch(lane: JournalLane): Promise<JournalLane['held']> {
    const entries: Buffer[] = [];
    const positions: number[] = [];
    const records: ReadRecord[] = [];
    for (const record of lane.waiting.slice(0, this.#batchMax)) {
      const opened = lane.opened ?? (await this.#open(lane, record, entries.length > 0));
      if (!opened) break;
      for (; opened.taken < opened.entries.length && entries.length < this.#batchMax; opened.taken += 1) {
        entries.push(opened.entries[opened.taken] as Buffer);
        positions.push(record.offset * JOURNAL_RECORD_MAX + opened.taken);
      }
      lane.opened = opened.taken < opened.entries.length ? opened : null;
      if (lane.opened) break;
      records.push(record);
    }
    const [first] = positions;
    const last = positions.at(-1);
    if (first === undefined || last === undefined) return null;
    return {
      batch: {
        partition: this.#nameOf(lane.partition.id, lane.partition.topicId),
        first,
        last,
        positions,
        entries: new EncodedEntries(entries),
      },
      records,
    };
  }

  async #open(lane: JournalLane, record: ReadRecord, hasEarlier: boolean) {
    const entries = await this.#read(lane, record, hasEarlier);
    return entries && { record, entries, taken: 0 };
  }

  /**
   * Returns the entries; null = the batch ends before them. A record that can never be read is stored, once it comes
   * first.
   */
  async #read(lane: JournalLane, record: ReadRecord, hasEarlier: boolean): Promise<readonly Buffer[] | null> {
    const { records, closing, quarantine, log, topic } = this.#deps;
    const value = record.value ?? Buffer.alloc(0);
    if (!records.isKnown(value)) {
      if (hasEarlier) return null;
      await records.learn(value, closing);
    }
    try {
      const entries = records.journalEntries(value, { isDecoded: lane.isSuspect });
      if (entries.length > 0 && entries.length <= JOURNAL_RECORD_MAX) return entries;
      throw new Error(`${entries.length} entries in one record: 1 to ${JOURNAL_RECORD_MAX} can be read`);
    } catch (error) {
      if (hasEarlier) return null;
      log.error({ topic, offset: record.offset, detail: String(error) }, 'a journal record cannot be read');
      await quarantine(record, String(error));
      lane.waiting.shift();
      this.#topic.done(record);
      return null;
    }
  }

  async #pauseAfter(lane: JournalLane, error: unknown): Promise<void> {
    const { clock, log } = this.#deps;
    if (lane.failures === 0) lane.failingSince = clock.now();
    lane.failures += 1;
    log.error({ stream: 'journal', failures: lane.failures, detail: String(error) }, 'a handler threw');
    const pause = growingPause(lane.failures, PAUSE_MS, PAUSE_MS_MAX);
    await clock.sleep(pause, this.#stopping.signal);
  }

  #forgetDead(): void {
    for (const partition of this.#lanes.keys()) if (!partition.isAlive) this.#lanes.delete(partition);
    this.#wakeAll();
  }

  async #drain(deadlineMs: number): Promise<'drained' | 'abandoned'> {
    const { clock } = this.#deps;
    this.#stopping.abort();
    const until = clock.now() + deadlineMs;
    const limit = new AbortController();
    const working = Promise.all([...this.#lanes.values()].map((lane) => lane.working));
    const late = clock.sleep(deadlineMs, limit.signal).then(() => false);
    const inTime = await Promise.race([working.then(() => true), late]);
    limit.abort();
    this.#abandoned = true;
    await this.#topic.stop(Math.max(0, until - clock.now()));
    this.stopped = true;
    return inTime ? 'drained' : 'abandoned';
  }

  /** Returns a partition's name. A topic that is created again has other partitions, which begin at 0 again. */
  #nameOf(id: number, topicId: string | null): string {
    const name = `kafka:${this.#deps.clusterId}:${this.#deps.topic}:${id}`;
    return topicId === null ? name : `${name}:${topicId}`;
  }
}
