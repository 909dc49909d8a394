import type { EachBatchPayload, Kafka, Consumer as KafkaConsumer } from 'kafkajs';
import type { DirectoryChange } from '../../../domain/directory.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Admins } from '../client/admins.ts';
import { EndQuestions, type LogBounds } from '../client/end-questions.ts';
import type { ConsumerClient } from '../consumer/consumer-client.ts';
import { loneConsumer } from '../consumer/lone-consumer.ts';
import { isOutOfRange, unreadableBatch } from '../fetch/fetch-answers.ts';
import type { KafkaRecords } from '../registry/records.ts';
import { Restarts, type RestartsOptions } from '../rights/restarts.ts';
import { Freshness } from './freshness.ts';

/** The interval of checks on the reading. */
const TICK_MS = 1000;
const FETCH_BYTES = 1024 * 1024;
const RESTART_MS = 500;
/** After this long without heartbeat, record or join, the client is replaced. */
const SILENT_MS_MAX = 45_000;
/** There are unread records and fetches succeed, but nothing arrives: for this long, and for so many fetches. */
const STALLED_MS = 10_000;
const STALLED_FETCHES = 20;

export interface DirectoryFollowerOptions {
  readonly kafka: Kafka;
  readonly admins: Admins;
  readonly clock: Clock;
  readonly log: Logger;
  readonly records: KafkaRecords;
  readonly topic: string;
  readonly newGroupId: () => string;
  readonly restarts?: Pick<RestartsOptions, 'rights' | 'groupId' | 'isPrefix'>;
  readonly apply: (change: DirectoryChange) => void;
  /** Called about every second, when everything up to a known end has been applied. */
  readonly caughtUp: () => void;
}

/** Reads the whole directory topic and then every change, in order, from its one partition. */
export class DirectoryFollower {
  readonly #options: DirectoryFollowerOptions;
  /** Everything before it is applied. */
  #position = 0;
  #end = 0;
  /** Earlier requests are about another log. */
  #madeAnewAt = Number.NEGATIVE_INFINITY;
  readonly #freshness: Freshness;
  readonly #questions: EndQuestions;
  readonly #restarts: Restarts;
  #client: ConsumerClient | null = null;
  /** The number of this client; callbacks of an earlier one are ignored. */
  #life = 0;
  #aliveAt: number;
  #quietSince: number;
  #fetches = 0;
  #isLearning = false;
  #cancelWatch: () => void = () => {};
  readonly #ending = new AbortController();
  #started: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: DirectoryFollowerOptions) {
    this.#options = options;
    this.#aliveAt = options.clock.now();
    this.#quietSince = this.#aliveAt;
    this.#freshness = new Freshness(this.#aliveAt);
    this.#restarts = new Restarts({ groupId: '', ...options.restarts, ...options, pauseMs: RESTART_MS });
    this.#questions = new EndQuestions({
      ...options,
      position: () => this.#position,
      answered: (bounds) => this.#take(bounds),
    });
  }

  /** Resolves when the table, as it was at the call, is applied, however long that takes. Rejects when closed. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#started = { resolve, reject };
      this.#watch();
      void this.#run();
      this.#questions.start();
    });
  }

  /** Returns the milliseconds since a moment at which there was nothing that is not applied by now. */
  stalenessMs(): number {
    return Math.max(0, this.#options.clock.now() - this.#freshness.provedAt);
  }

  /** Closes within seconds, whether brokers respond or not. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#life += 1;
    this.#ending.abort();
    this.#questions.close();
    this.#cancelWatch();
    this.#started?.reject(new Error('the broker is closed'));
    await this.#client?.disconnect();
  }

  get #isClosed(): boolean {
    return this.#ending.signal.aborted;
  }

  async #run(): Promise<void> {
    const { kafka, clock, newGroupId, topic } = this.#options;
    this.#life += 1;
    const life = this.#life;
    const isOurs = () => life === this.#life;
    const client = loneConsumer({
      kafka,
      clock,
      topic,
      groupId: newGroupId(),
      bytesPerPartition: FETCH_BYTES,
    });
    this.#client = client;
    this.#listen(client.consumer, isOurs);
    try {
      await client.start(async (payload) => {
        if (isOurs()) this.#read(payload);
      });
    } catch (error) {
      if (!isOurs()) return;
      void this.#runAgain(this.#restarts.crashed(error, 'the directory cannot be read; trying again'));
    }
  }

  #listen(client: KafkaConsumer, isOurs: () => boolean): void {
    const { clock } = this.#options;
    client.on(client.events.HEARTBEAT, () => {
      if (isOurs()) this.#aliveAt = clock.now();
    });
    client.on(client.events.GROUP_JOIN, () => {
      if (isOurs()) this.#joined();
    });
    client.on(client.events.FETCH, () => this.#restarts.fetched());
    client.on(client.events.REQUEST, ({ payload }) => {
      if (isOurs()) this.#restarts.asked(payload.apiName);
      if (isOurs() && payload.apiName === 'Fetch') this.#fetches += 1;
    });
    client.on(client.events.END_BATCH_PROCESS, ({ payload }) => {
      // Compaction has left no record of the fetched offsets.
      if (isOurs() && payload.batchSize === 0) this.#advance(Number(payload.lastOffset) + 1);
    });
    client.on(client.events.CRASH, ({ payload }) => {
      if (!isOurs()) return;
      void this.#runAgain(
        this.#restarts.crashed(payload.error, 'the reading of the directory was interrupted'),
      );
    });
  }

  /** Replaces the client; the new one goes on from the position. */
  async #runAgain(pauseMs = RESTART_MS): Promise<void> {
    const { clock } = this.#options;
    this.#life += 1;
    const life = this.#life;
    this.#rested();
    void this.#client?.disconnect();
    await clock.sleep(pauseMs, this.#ending.signal);
    if (life === this.#life && !this.#isClosed) await this.#run();
  }

  /** Runs before the first fetch: nothing is committed, so the client would start at the beginning. */
  #joined(): void {
    this.#rested();
    if (this.#position > 0) this.#client?.seek(0, this.#position);
    if (this.#isLearning) this.#client?.pause(0);
  }

  #rested(): void {
    this.#aliveAt = this.#options.clock.now();
    this.#quietSince = this.#aliveAt;
    this.#fetches = 0;
  }

  #read({ batch }: EachBatchPayload): void {
    const { log, records, topic } = this.#options;
    for (const message of batch.messages) {
      const { offset, value } = message;
      const at = Number(offset);
      if (isOutOfRange(message)) {
        // The log's bounds are requested every second, which corrects the position.
        this.#client?.seek(0, this.#position);
        return;
      }
      if (at < this.#position) continue;
      const unreadable = unreadableBatch(message);
      if (unreadable) {
        const { cause, lastOffset } = unreadable;
        log.error({ topic, offset, lastOffset, cause }, 'changes of the directory cannot be read: left out');
        this.#advance(lastOffset + 1);
        continue;
      }
      if (value !== null && !records.isKnown(value)) {
        this.#learn(value);
        return;
      }
      // A null lets compaction drop a key whose delete every follower has seen long ago.
      if (value !== null) this.#apply(at, value);
      this.#advance(at + 1);
    }
  }

  #apply(offset: number, value: Buffer): void {
    const { apply, log, records, topic } = this.#options;
    let change: DirectoryChange | null = null;
    try {
      change = records.decode('directory', value);
    } catch (error) {
      const fields = { topic, offset, detail: errorLine(error) };
      log.error(fields, 'a change of the directory cannot be read: left out');
    }
    if (change) apply(change);
  }

  #advance(position: number): void {
    this.#position = Math.max(this.#position, position);
    this.#rested();
    this.#prove();
  }

  /** Pauses reading at this record until the registry has returned its schema: the order is kept. */
  #learn(value: Buffer): void {
    this.#client?.pause(0);
    this.#client?.seek(0, this.#position);
    if (this.#isLearning) return;
    this.#isLearning = true;
    void this.#options.records.learn(value, this.#ending.signal).then(() => {
      this.#isLearning = false;
      if (this.#isClosed) return;
      this.#rested();
      this.#client?.resume(0);
    });
  }

  #take({ askedAt, position, low, high }: LogBounds): void {
    const { clock, log, topic } = this.#options;
    if (askedAt < this.#madeAnewAt) return;
    // Records appended and read while the request was in progress are rightly beyond that end.
    if (high < position) {
      const fields = { topic, position: this.#position, end: high };
      log.error(
        fields,
        'the directory ends before what was read: was the topic made anew? Reading all of it',
      );
      this.#freshness.forget();
      this.#madeAnewAt = clock.now();
      this.#position = low;
      void this.#runAgain();
    }
    this.#end = high;
    this.#position = Math.max(this.#position, low);
    this.#freshness.asked(askedAt, high);
    this.#prove();
  }

  #prove(): void {
    if (!this.#freshness.reached(this.#position)) return;
    this.#started?.resolve();
    this.#options.caughtUp();
  }

  #watch(): void {
    const { clock, log, topic } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + TICK_MS, () => {
      if (clock.now() - this.#aliveAt > SILENT_MS_MAX) {
        log.warn({ topic }, 'the reading of the directory was silent for too long; it is made anew');
        void this.#runAgain();
      } else if (this.#isStalled()) this.#stepOverHole();
      this.#watch();
    });
  }

  #isStalled(): boolean {
    return (
      this.#position < this.#end &&
      !this.#isLearning &&
      this.#fetches >= STALLED_FETCHES &&
      this.#options.clock.now() - this.#quietSince > STALLED_MS
    );
  }

  /**
   * Skips one offset per tick of a segment in which compaction has left only an empty batch (of an idempotent
   * producer), which would be fetched for ever. One at a time, so that no existing record can be skipped.
   */
  #stepOverHole(): void {
    const fields = { topic: this.#options.topic, position: this.#position, end: this.#end };
    this.#options.log.warn(fields, 'no records come from the directory: stepping on');
    this.#position += 1;
    this.#client?.seek(0, this.#position);
    this.#prove();
  }
}
