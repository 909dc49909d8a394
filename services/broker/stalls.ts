import type { StallEntry } from '../domain/stalls/stall.ts';

/**
 * The stalls that ended a process, written down by the watchdog's thread of that process, while its main thread stood
 * still, and known to every process. Entries are kept for a week. A process that was killed, or whose machine lost
 * power, writes none.
 */
export interface StallLog {
  /**
   * How the thread of a watchdog writes: a module that exports `writeStall`, and what it needs. `earlyMs`: a stall of this
   * length is written down before it is known whether the process will be ended, because others take its work over by then.
   */
  readonly writer: { readonly module: string; readonly data: unknown; readonly earlyMs?: number };
  /**
   * Calls back with each entry, the oldest first. Resolves when all that were durable at the call have been passed;
   * later ones follow within seconds.
   */
  follow(apply: (entry: StallEntry) => void): Promise<StallFollower>;
  /** Resolves when it is durable and every process that runs has had the time to read it. */
  append(entry: StallEntry): Promise<void>;
}

export interface StallFollower {
  close(): Promise<void>;
}
