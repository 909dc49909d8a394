import type { Consumer, JournalSource } from '../broker/broker.ts';
import type { JournalBatch } from '../domain/journal.ts';
import type { Clock } from '../process/clock.ts';

/**
 * How long entries gather after a batch. The store writes whole pages: a few large transactions write far fewer than many
 * small ones. A reader of the live stream waits this much longer at the most.
 */
const GATHER_MS = 125;
/** Entries applied in one store transaction: batches that wait are joined up to here. */
export const BATCH_MAX = 2000;

interface Waiting {
  readonly batch: JournalBatch;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface GatheringDeps {
  readonly source: Pick<JournalSource, 'isFull'>;
  readonly clock: Clock;
  /** Records all batches in one transaction, or none. */
  readonly apply: (batches: readonly JournalBatch[]) => Promise<void>;
}

/**
 * Decides when the journal's batches are large enough for the store, over all partitions. The consumer is paused
 * meanwhile, so that what the engine hands over next is all that came by then. After a pause the first batch is recorded
 * at once.
 *
 *     idle ── a batch ──► joining ── end of the turn ──► recording ──► gathering ── nothing came ──► idle
 *                            ▲                                             │
 *                            └── a batch: after GATHER_MS, when somebody waits, or when much is held
 */
export class Gathering {
  /** Paused and resumed, once it is known. */
  consumer: Consumer | null = null;
  readonly #deps: GatheringDeps;
  /** Aborted when the present gathering is to end. */
  #gathered = new AbortController();
  #isStopping = false;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(deps: GatheringDeps) {
    this.#deps = deps;
  }

  /** Resolves when the batch is recorded; rejects when it alone cannot be. */
  add(batch: JournalBatch): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      void this.#run();
    });
  }

  /** Ends the present gathering: what is handed over next is recorded at once. */
  hurry(): void {
    this.#gathered.abort();
  }

  /** Nothing gathers any more. */
  stop(): void {
    this.#isStopping = true;
    this.hurry();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const { clock, source } = this.#deps;
      const until = clock.now() + GATHER_MS;
      this.#gathered = new AbortController();
      // Partitions hand over in the same turn of the event loop: their batches go into one transaction.
      await turn();
      this.consumer?.pause();
      while (this.#waiting.length > 0) await this.#record(this.#take());
      // What arrives in the rest of this turn joins the next batch.
      await turn();
      if (!source.isFull && !this.#isStopping) await clock.sleep(until - clock.now(), this.#gathered.signal);
      this.consumer?.resume();
    }
    this.#isRunning = false;
  }

  /** Takes as many as one transaction may have, at least one. */
  #take(): readonly Waiting[] {
    let entries = 0;
    const end = this.#waiting.findIndex(({ batch }, index) => {
      entries += batch.entries.length;
      return index > 0 && entries > BATCH_MAX;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  /**
   * Records batches together. When that fails, each gets a transaction of its own, so that a bad one stops only its
   * partition.
   */
  async #record(waiting: readonly Waiting[]): Promise<void> {
    const batches = waiting.map(({ batch }) => batch);
    try {
      await this.#deps.apply(batches);
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      if (waiting.length === 1) waiting[0]?.reject(error);
      else for (const each of waiting) await this.#record([each]);
    }
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
