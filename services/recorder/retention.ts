import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Store } from '../store/store.ts';

const PAUSE_MS = 60_000;
/** Rows of one step: small, so that a step never holds up recording. */
const STEP_ROWS = 200;
/**
 * A step is followed by a pause of so many times as long as it took. It waits its turn behind the journal's batches, so
 * a busy store slows it down by itself, and an idle one is cleared several times as fast as it fills.
 */
const PAUSE_PER_STEP = 3;
const PAUSE_BETWEEN_STEPS_MS_MIN = 5;

export interface RetentionDeps {
  readonly store: Pick<Store, 'log'>;
  readonly retentionMs: number;
  /** At most as long: bodies go first. */
  readonly bodyRetentionMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Deletes what is older than its retention, by age, in small steps, for as long as the signal has not fired. */
export async function runRetention(deps: RetentionDeps): Promise<void> {
  const { clock, log, signal } = deps;
  while (!signal.aborted) {
    try {
      const startedAt = clock.now();
      const gone = await step(deps, startedAt);
      const took = clock.now() - startedAt;
      const pause = Math.min(PAUSE_MS, Math.max(PAUSE_BETWEEN_STEPS_MS_MIN, took * PAUSE_PER_STEP));
      await clock.sleep(gone > 0 ? pause : PAUSE_MS, signal);
    } catch (error) {
      log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'retention failed, will try again',
      );
      await clock.sleep(PAUSE_MS, signal);
    }
  }
}

/** Answers how many rows it has dealt with; 0 = nothing is too old. */
async function step({ store, retentionMs, bodyRetentionMs }: RetentionDeps, now: number): Promise<number> {
  const deleted = await store.log.retain(now - retentionMs, STEP_ROWS);
  // Those of deleted rows went with them.
  if (deleted > 0 || bodyRetentionMs >= retentionMs) return deleted;
  return store.log.removeBodies(now - bodyRetentionMs, STEP_ROWS);
}
