import { EncodedEntries } from '../../codec/encoded-entries.ts';
import type { JournalBatch } from '../../domain/journal.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Consumer, JournalSource } from '../broker.ts';
import { type JournalWork, journalWork } from '../journal-work.ts';
import { type Feed, Item } from '../work.ts';
import type { CommitQueue } from './commit-queue.ts';
import { JOURNAL } from './file/wire.ts';
import type { LogStream } from './log-stream.ts';

interface Options {
  readonly partition: string;
  /** The entries, each in Avro by the current schema. */
  readonly log: LogStream<Buffer>;
  readonly queue: CommitQueue;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

class Run extends Item {
  readonly batch: JournalBatch;

  constructor(batch: JournalBatch) {
    super();
    this.batch = batch;
  }

  completed(): void {}
}

/** Hands over the journal in batches, one at a time and in order. */
export class SqliteJournal implements JournalSource, Feed<Run> {
  readonly #options: Options;
  readonly #work: JournalWork<Run>;
  /** The store has everything before this position. */
  #from = 0;
  #batchMax = 0;
  /** A batch was handed over and is not accepted. */
  #isOut = false;
  onAvailable: () => void = () => {};
  onAwaited: () => void = () => {};

  constructor(options: Options) {
    this.#options = options;
    options.log.onAvailable = () => {
      this.onAvailable();
      if (this.isFull) this.onAwaited();
    };
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

  get isFull(): boolean {
    return this.#options.log.ahead >= this.#batchMax / 2;
  }

  get stuck(): { readonly count: number; readonly since: number } {
    return this.#work.stuck;
  }

  async stop(deadlineMs: number): Promise<void> {
    await this.#work.stop(deadlineMs);
  }

  take(): Run | undefined {
    if (this.#isOut) return undefined;
    const { log, partition, queue } = this.#options;
    const { first, records, skipped } = log.takeRun(this.#from, this.#batchMax);
    // The store has them, but a crash came before the commit that deletes them.
    if (skipped >= 0) queue.settlements.rowsDoneUpTo(JOURNAL, skipped);
    if (records.length === 0) return undefined;
    this.#isOut = true;
    const last = first + records.length - 1;
    return new Run({ partition, first, last, entries: new EncodedEntries(records) });
  }

  /**
   * The store has the batch. Its rows are deleted with the next commit, whatever that is for: after a crash before
   * that, the store returns its position.
   */
  #accepted({ batch: { entries, last } }: Run): void {
    const { log, queue } = this.#options;
    log.pending -= entries.length;
    queue.settlements.rowsDoneUpTo(JOURNAL, last);
    this.#isOut = false;
  }
}
