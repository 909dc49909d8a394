import { EncodedEntries } from '../../codec/encoded-entries.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Consumer, JournalBatch, JournalSource } from '../broker.ts';
import { type JournalWork, journalWork } from '../journal-work.ts';
import { type Feed, Item } from '../work.ts';
import type { CommitQueue } from './commit-queue.ts';
import { JOURNAL } from './file/wire.ts';
import type { LogStream } from './log-stream.ts';

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

/** A batch that was handed over, and when. */
class Run extends Item {
  readonly batch: JournalBatch;
  readonly at: number;

  constructor(batch: JournalBatch, at: number) {
    super();
    this.batch = batch;
    this.at = at;
  }

  completed(): void {}
}

/**
 * Hands over the journal in batches, one at a time and in order; while the handler works, the next one gathers, and
 * while the stream is busy it gathers for some time more.
 */
export class SqliteJournal implements JournalSource, Feed<Run> {
  readonly #options: Options;
  readonly #work: JournalWork<Run>;
  /** The store has everything before this position. */
  #from = 0;
  #batchMax = 0;
  /** A batch was handed over and is not accepted, or the next one gathers. */
  #isOut = false;
  /** Called when entries arrive. */
  #arrived: () => void = () => this.onAvailable();
  onAvailable: () => void = () => {};

  constructor(options: Options) {
    this.#options = options;
    options.log.onAvailable = () => this.#arrived();
    this.#work = journalWork<Run>({
      feed: this,
      batchOf: ({ batch }) => batch,
      accepted: (run) => this.#accepted(run),
      clock: options.clock,
      log: options.logger,
    });
  }

  async consume(
    handler: (batch: JournalBatch) => Promise<void>,
    positionOf: (partition: string) => Promise<number | undefined>,
    limits: { readonly batchMax: number },
  ): Promise<Consumer> {
    const position = await positionOf(this.#options.partition);
    this.#from = (position ?? -1) + 1;
    this.#batchMax = limits.batchMax;
    return this.#work.consume(({ batch }) => handler(batch).then(() => true), { inFlightMax: 1 });
  }

  get stuck(): { readonly count: number; readonly since: number } {
    return this.#work.stuck;
  }

  async stop(deadlineMs: number): Promise<void> {
    await this.#work.stop(deadlineMs);
  }

  take(): Run | undefined {
    if (this.#isOut) return undefined;
    const { log, partition, clock } = this.#options;
    const run = log.takeRun(this.#from, this.#batchMax);
    if (!run) return undefined;
    this.#isOut = true;
    const { first, records } = run;
    const last = first + records.length - 1;
    return new Run({ partition, first, last, entries: new EncodedEntries(records) }, clock.now());
  }

  /**
   * The store has the batch. Its rows are deleted with the next commit, whatever that is for: after a crash before
   * that, the store returns its position.
   */
  #accepted({ batch: { entries, last }, at }: Run): void {
    const { log, queue } = this.#options;
    log.pending -= entries.length;
    queue.settlements.rowsDoneUpTo(JOURNAL, last);
    // Entries of the rest of this turn of the event loop join the next batch: fewer, larger transactions.
    setImmediate(() => this.#gather(entries.length < BUSY_ENTRIES ? 0 : at + GATHER_MS));
  }

  /** Hands over the next batch once a whole one waits, or at the time given. */
  #gather(until: number): void {
    const { log, clock } = this.#options;
    const end = () => {
      cancel();
      this.#arrived = () => this.onAvailable();
      this.#isOut = false;
      this.onAvailable();
    };
    const cancel = clock.at(until, end);
    this.#arrived = () => {
      if (log.ahead >= this.#batchMax || clock.now() >= until) end();
    };
    this.#arrived();
  }
}
