import { EncodedEntries } from '../../codec/encoded-entries.ts';
import type { Clock } from '../../process/clock.ts';
import { growingPause } from '../../process/growing-pause.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Consumer, JournalBatch, JournalSource } from '../broker.ts';
import { JournalOutage } from '../journal-outage.ts';
import type { CommitQueue } from './commit-queue.ts';
import { JOURNAL } from './file/wire.ts';
import type { LogStream } from './log-stream.ts';

const PAUSE_MS = 100;
/** Short, so that the log catches up as soon as its store is back. */
const PAUSE_MS_MAX = 5000;
/** A batch with this many entries shows that the stream is busy: the next one gathers. */
const BUSY_ENTRIES = 16;
/**
 * The time in which a busy stream's batch gathers, from the one before. The store writes whole pages: a few large
 * transactions write far fewer than many small ones. A reader of the live stream waits this much longer at the most.
 */
const GATHER_MS = 64;

interface Options {
  readonly partition: string;
  /** The entries, each in Avro by the current schema. */
  readonly log: LogStream<Buffer>;
  readonly queue: CommitQueue;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

type Handler = (batch: JournalBatch) => Promise<void>;

/**
 * Hands over the journal in batches, one at a time and in order; while the handler works, the next one gathers, and
 * while the stream is busy it gathers for some time more.
 */
export class SqliteJournal implements JournalSource {
  readonly #options: Options;
  /** A batch that was handed over but not accepted: comes again before anything else. */
  held: JournalBatch | null = null;
  failures = 0;
  failingSince = 0;
  #consumer: SqliteJournalConsumer | null = null;

  constructor(options: Options) {
    this.#options = options;
    options.log.onAvailable = () => this.#consumer?.wake();
  }

  async consume(
    handler: Handler,
    positionOf: (partition: string) => Promise<number | undefined>,
    limits: { readonly batchMax: number },
  ): Promise<Consumer> {
    if (this.#consumer && !this.#consumer.stopped) throw new Error('the journal has a consumer already');
    const position = await positionOf(this.#options.partition);
    const consumer = new SqliteJournalConsumer(
      this,
      this.#options,
      handler,
      (position ?? -1) + 1,
      limits.batchMax,
    );
    this.#consumer = consumer;
    consumer.wake();
    return consumer;
  }

  get stuck(): { readonly count: number; readonly since: number } {
    return this.failures > 0
      ? { count: 1, since: this.failingSince }
      : { count: 0, since: Number.POSITIVE_INFINITY };
  }

  async stop(deadlineMs: number): Promise<void> {
    await this.#consumer?.stop(deadlineMs);
  }
}

class SqliteJournalConsumer implements Consumer {
  readonly #reader: SqliteJournal;
  readonly #options: Options;
  readonly #handler: Handler;
  /** The store has everything before this position. */
  readonly #from: number;
  readonly #batchMax: number;
  readonly #stopping = new AbortController();
  readonly #outage: JournalOutage;
  #paused = false;
  #working: Promise<void> | null = null;
  #stop: Promise<'drained' | 'abandoned'> | null = null;
  #abandoned = false;
  /** Called when entries arrive, or the consumer stops, while a batch gathers. */
  #arrived: (() => void) | null = null;
  stopped = false;

  constructor(reader: SqliteJournal, options: Options, handler: Handler, from: number, batchMax: number) {
    this.#reader = reader;
    this.#options = options;
    this.#outage = new JournalOutage(options.logger);
    this.#handler = handler;
    this.#from = from;
    this.#batchMax = batchMax;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.wake();
  }

  stop(deadlineMs: number): Promise<'drained' | 'abandoned'> {
    this.#stop ??= this.#drain(deadlineMs);
    this.#arrived?.();
    return this.#stop;
  }

  wake(): void {
    this.#arrived?.();
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
      // Entries may have arrived, or resume() been called, while the loop was ending.
      const more = this.#reader.held !== null || this.#options.log.oldestAt !== undefined;
      if (more && !this.#paused && !this.#stop) this.wake();
    });
  }

  async #work(): Promise<void> {
    while (!this.#paused && !this.#stop) {
      const startedAt = this.#options.clock.now();
      const batch = this.#reader.held ?? this.#nextBatch();
      if (!batch) return;
      this.#reader.held = batch;
      try {
        await this.#handler(batch);
      } catch (error) {
        if (this.#abandoned) return;
        await this.#pauseAfter(error);
        continue;
      }
      if (this.#abandoned) return;
      this.#taken(batch);
      // Entries of the rest of this turn of the event loop join the next batch: fewer, larger transactions.
      await new Promise((resolve) => setImmediate(resolve));
      if (batch.entries.length >= BUSY_ENTRIES) await this.#gather(startedAt + GATHER_MS);
    }
  }

  /** Resolves when a whole batch waits, at the time given, or when the consumer stops. */
  #gather(until: number): Promise<void> {
    const { log, clock } = this.#options;
    if (this.#stop || clock.now() >= until) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#arrived = null;
        resolve();
      };
      const cancel = clock.at(until, end);
      this.#arrived = () => {
        if (log.ahead >= this.#batchMax || this.#stop) end();
      };
      this.#arrived();
    });
  }

  #nextBatch(): JournalBatch | undefined {
    const { log, partition } = this.#options;
    const run = log.takeRun(this.#from, this.#batchMax);
    if (!run) return undefined;
    const { first, records } = run;
    return { partition, first, last: first + records.length - 1, entries: new EncodedEntries(records) };
  }

  /**
   * The store has the batch. Its rows are deleted with the next commit, whatever that is for: after a crash before
   * that, the store returns its position.
   */
  #taken(batch: JournalBatch): void {
    this.#reader.held = null;
    this.#reader.failures = 0;
    this.#outage.succeeded();
    this.#options.log.pending -= batch.entries.length;
    this.#options.queue.settlements.rowsDoneUpTo(JOURNAL, batch.last);
  }

  async #pauseAfter(error: unknown): Promise<void> {
    const { clock } = this.#options;
    if (this.#reader.failures === 0) this.#reader.failingSince = clock.now();
    this.#reader.failures += 1;
    this.#outage.failed(error, this.#reader.held ?? undefined);
    const pause = growingPause(this.#reader.failures, PAUSE_MS, PAUSE_MS_MAX);
    await clock.sleep(pause, this.#stopping.signal);
  }

  async #drain(deadlineMs: number): Promise<'drained' | 'abandoned'> {
    const { clock } = this.#options;
    this.#stopping.abort();
    let cancel = () => {};
    const deadline = new Promise<boolean>((resolve) => {
      cancel = clock.at(clock.now() + deadlineMs, () => resolve(false));
    });
    const inTime = await Promise.race([(this.#working ?? Promise.resolve()).then(() => true), deadline]);
    cancel();
    this.#abandoned = true;
    this.stopped = true;
    return inTime ? 'drained' : 'abandoned';
  }
}
