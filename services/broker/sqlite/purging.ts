import { SCHEDULE_SECONDS } from '../../domain/retry.ts';
import type { Clock } from '../../process/clock.ts';
import { pollUntil } from '../../process/poll-until.ts';
import { PURGE_BYTES_MAX, unpurged } from '../../sqlite/purge.ts';
import type { Remnants } from '../broker.ts';
import type { EngineThread } from './file/engine-thread.ts';

/** How often the file is purged, if records were written since, and the pause before it is tried again while work goes on. */
const PURGE_MS = 600_000;
const BUSY_PAUSE_MS = 30_000;
/** A file in which there is always work is purged beside it. */
const BUSY_MS_MAX = 6 * 3_600_000;
/** How long a purge on demand waits for the end of what is in hand: its records are in the file until then. */
const QUIET_MS_MAX = 2_000;
const LOOK_MS = 20;
/** At the end of the process, which others wait for: about half a second. */
const CLOSE_BYTES_MAX = 128 * 1024 * 1024;

export interface PurgingOptions {
  readonly clock: Clock;
  readonly thread: EngineThread;
  /** Whether nothing is due, in hand or unrecorded. */
  readonly isQuiet: () => boolean;
}

/** Overwrites what records that are done have left in the file: at intervals, on demand and at the end. */
export class Purging {
  readonly #options: PurgingOptions;
  #cancel: () => void = () => {};
  #hasWritten = false;
  #purgedAt: number;

  constructor(options: PurgingOptions) {
    this.#options = options;
    this.#purgedAt = options.clock.now();
    this.#after(PURGE_MS);
  }

  /** Called after each commit. */
  committed(): void {
    this.#hasWritten = true;
  }

  /** Waits a moment until nothing is in hand, and purges the file. Resolves with false when it is too large. */
  async now(): Promise<boolean> {
    const { clock, isQuiet } = this.#options;
    await pollUntil(clock, isQuiet, { everyMs: LOOK_MS, atMostMs: QUIET_MS_MAX });
    return this.#purge(PURGE_BYTES_MAX);
  }

  /** Ends the intervals, and purges a small file. A failure is the next start's to deal with. */
  async end(): Promise<void> {
    this.#cancel();
    if (this.#hasWritten) await this.#purge(CLOSE_BYTES_MAX).catch(() => {});
  }

  cancel(): void {
    this.#cancel();
  }

  async #purge(bytesMax: number): Promise<boolean> {
    const reply = await this.#options.thread.read({ kind: 'purge', bytesMax });
    this.#purgedAt = this.#options.clock.now();
    const isWhole = reply.kind === 'purged' && reply.isWhole;
    if (isWhole) this.#hasWritten = false;
    return isWhole;
  }

  #after(pauseMs: number): void {
    const { clock, isQuiet } = this.#options;
    this.#cancel = clock.at(clock.now() + pauseMs, () => {
      if (!this.#hasWritten) return this.#after(PURGE_MS);
      if (!isQuiet() && clock.now() < this.#purgedAt + BUSY_MS_MAX) return this.#after(BUSY_PAUSE_MS);
      // The next one is tried after a failure, too: the disk may be full.
      this.#purge(PURGE_BYTES_MAX).then(
        () => this.#after(PURGE_MS),
        () => this.#after(PURGE_MS),
      );
    });
  }
}

/** A delivery waits no longer than its whole schedule takes; what is done is cleared at the next purge. */
export function remnantsOf(purging: Purging, isEmpty: () => boolean, retryScale: number): Remnants {
  const waiting = {
    where: 'deliveries that wait for a retry, in broker.db',
    forMs: (SCHEDULE_SECONDS * 1000) / retryScale + PURGE_MS,
  };
  return {
    purge: async () => ((await purging.now()) ? [] : [unpurged('broker.db')]),
    kept: async () => (isEmpty() ? [] : [waiting]),
  };
}
