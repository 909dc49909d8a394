import type { Consumer, JournalSource } from '../broker/broker.ts';
import type { JournalBatch } from '../domain/journal.ts';
import type { Clock } from '../process/clock.ts';

/** Entries applied in one store transaction: batches that wait are joined up to here. */
export const BATCH_MAX = 2000;

interface Waiting {
  readonly batch: JournalBatch;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface GatheringDeps {
  readonly source: Pick<JournalSource, 'gathering' | 'isFull'>;
  readonly clock: Clock;
  /** Records all batches in one transaction, or none. */
  readonly apply: (batches: readonly JournalBatch[]) => Promise<void>;
}

/**
 * Decides when the journal's batches are large enough for the store, over all partitions. The consumer is paused
 * meanwhile, so that what the engine hands over next is all that came by then.
 *
 *     idle ── a batch ──► joining ── end of the turn ──► recording ──► idle        few entries, or much waits
 *                                                            └──► gathering ──► idle     after many entries
 */
export class Gathering {
  /** Paused and resumed, once it is known. */
  consumer: Consumer | null = null;
  readonly #deps: GatheringDeps;
  readonly #stopping = new AbortController();
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

  /** Ends the gathering: what was handed over is recorded at once. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const { clock, source } = this.#deps;
      const { entries, ms } = source.gathering;
      const until = clock.now() + ms;
      // Partitions hand over in the same turn of the event loop: their batches go into one transaction.
      await turn();
      this.consumer?.pause();
      let recorded = 0;
      while (this.#waiting.length > 0) recorded += await this.#record(this.#take());
      // What arrives in the rest of this turn joins the next batch.
      await turn();
      if (recorded >= entries && !source.isFull)
        await clock.sleep(until - clock.now(), this.#stopping.signal);
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
   * partition. Returns the number of entries.
   */
  async #record(waiting: readonly Waiting[]): Promise<number> {
    const batches = waiting.map(({ batch }) => batch);
    try {
      await this.#deps.apply(batches);
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      if (waiting.length === 1) waiting[0]?.reject(error);
      else for (const each of waiting) await this.#record([each]);
    }
    return batches.reduce((sum, { entries }) => sum + entries.length, 0);
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
