import type { EachBatchPayload, Kafka } from 'kafkajs';
import type { DirectoryChange } from '../../../domain/directory.ts';
import type { Admins } from '../../../kafka-client/client/admins.ts';
import { EndQuestions, type LogBounds } from '../../../kafka-client/client/end-questions.ts';
import { Freshness } from '../../../kafka-client/client/freshness.ts';
import {
  SupervisedConsumer,
  type SupervisedConsumerOptions,
} from '../../../kafka-client/consumer/supervised-consumer.ts';
import { isOutOfRange, unreadableBatch } from '../../../kafka-client/fetch/fetch-answers.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { KafkaRecords } from '../registry/records.ts';

/** The interval of checks on the reading. */
const TICK_MS = 1000;
const FETCH_BYTES = 1024 * 1024;
const SESSION_MS = 30_000;
const HEARTBEAT_MS = 3000;
/** The longest wait of a fetch for records while changes arrive; see FetchPatience. */
const MAX_WAIT_MS = 100;
const RETRIES = 2;
const RESTART_MS = 500;
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
  readonly restarts?: Pick<SupervisedConsumerOptions, 'rights' | 'groupId' | 'isPrefix'>;
  readonly apply: (change: DirectoryChange) => void;
  /** Called about every second, when everything up to a known end has been applied. */
  readonly caughtUp: () => void;
}

/**
 * Reads the whole directory topic and then every change, in order, from its one partition. kafkajs lacks the protocol's
 * way to read without a group: each client is alone in a group of its own and commits nothing, so that the group
 * vanishes with it. Every client has a new group: a member that died without leaving would hold up its successor until
 * its session ends.
 *
 * ```
 * reading ─ schema not known ─▶ learning ─ the registry returned it ─▶ reading
 * reading ─ the log ends before the position, for half a minute ─▶ reading anew, from the log's first record
 * reading ─ unread records, fetches, but nothing arrives for 10 s ─▶ stepping over a hole, one offset a second
 * ```
 */
export class DirectoryFollower {
  readonly #options: DirectoryFollowerOptions;
  /** Everything before it is applied. */
  #position = 0;
  #end = 0;
  readonly #freshness: Freshness;
  readonly #questions: EndQuestions;
  readonly #consumer: SupervisedConsumer;
  #quietSince: number;
  #fetches = 0;
  #isLearning = false;
  /** The log has nothing at the position. */
  #isOutside = false;
  #cancelWatch: () => void = () => {};
  readonly #ending = new AbortController();
  #started: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: DirectoryFollowerOptions) {
    this.#options = options;
    this.#quietSince = options.clock.now();
    this.#freshness = new Freshness(this.#quietSince);
    this.#consumer = this.#newConsumer();
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
      void this.#consumer.start();
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
    this.#ending.abort();
    this.#questions.close();
    this.#cancelWatch();
    this.#started?.reject(new Error('the broker is closed'));
    await this.#consumer.end();
  }

  get #isClosed(): boolean {
    return this.#ending.signal.aborted;
  }

  #newConsumer(): SupervisedConsumer {
    const { restarts } = this.#options;
    return new SupervisedConsumer({
      groupId: '',
      ...restarts,
      ...this.#options,
      sessionMs: SESSION_MS,
      heartbeatMs: HEARTBEAT_MS,
      retries: RETRIES,
      restartMs: RESTART_MS,
      maxWaitMs: MAX_WAIT_MS,
      bytesPerPartition: FETCH_BYTES,
      on: {
        GROUP_JOIN: () => this.#joined(),
        REQUEST: ({ apiName }) => {
          if (apiName === 'Fetch') this.#fetches += 1;
        },
        END_BATCH_PROCESS: ({ batchSize, lastOffset }) => {
          // Compaction has left no record of the fetched offsets.
          if (batchSize === 0) this.#advance(Number(lastOffset) + 1);
        },
      },
      read: (payload) => this.#read(payload),
      replaced: () => this.#rested(),
    });
  }

  /** Runs before the first fetch: nothing is committed, so the client would start at the beginning. */
  #joined(): void {
    this.#rested();
    if (this.#position > 0) this.#consumer.seek(0, this.#position);
    if (this.#isLearning) this.#consumer.pause(0);
  }

  #rested(): void {
    this.#quietSince = this.#options.clock.now();
    this.#fetches = 0;
  }

  #read({ batch }: EachBatchPayload): void {
    const { log, records, topic } = this.#options;
    for (const message of batch.messages) {
      const { offset, value } = message;
      const at = Number(offset);
      if (isOutOfRange(message)) {
        // The log's bounds are requested every second, which corrects the position.
        this.#consumer.pause(0);
        this.#isOutside = true;
        return;
      }
      if (at < this.#position) continue;
      const unreadable = unreadableBatch(message);
      if (unreadable) {
        const { cause, lastOffset } = unreadable;
        log.error({ topic, offset, lastOffset, cause }, 'directory changes cannot be read: skipped');
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
      log.error(fields, 'a directory change cannot be read: skipped');
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
    this.#consumer.pause(0);
    this.#consumer.seek(0, this.#position);
    if (this.#isLearning) return;
    this.#isLearning = true;
    void this.#options.records.learn(value, this.#ending.signal).then(() => {
      this.#isLearning = false;
      if (this.#isClosed) return;
      this.#rested();
      this.#consumer.resume(0);
    });
  }

  #take({ askedAt, isReplaced, low, high }: LogBounds): void {
    const { log, topic } = this.#options;
    if (isReplaced) {
      const fields = { topic, position: this.#position, end: high };
      log.error(
        fields,
        'the directory topic ends before the last offset read: it was probably recreated; reading all of it',
      );
      this.#freshness.forget();
      this.#position = low;
      void this.#consumer.replace();
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
    const { clock } = this.#options;
    this.#cancelWatch = clock.at(clock.now() + TICK_MS, () => {
      if (this.#isOutside) this.#fetchAgain();
      if (this.#isStalled()) this.#stepOverHole();
      this.#watch();
    });
  }

  #fetchAgain(): void {
    this.#isOutside = false;
    this.#consumer.seek(0, this.#position);
    if (!this.#isLearning) this.#consumer.resume(0);
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
    this.#options.log.warn(fields, 'the directory topic returns no records: skipping one offset');
    this.#position += 1;
    this.#consumer.seek(0, this.#position);
    this.#prove();
  }
}
