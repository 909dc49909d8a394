import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Store } from '../store/store.ts';

const PAUSE_MS = 60_000;
/** Rows of one step: small, so that a step never holds up recording. */
const STEP_ROWS = 200;
const PAUSE_BETWEEN_STEPS_MS = 50;

/** Deletes what is older than the retention, by age, in small steps, for as long as the signal has not fired. */
export async function runRetention(deps: {
  readonly store: Pick<Store, 'log'>;
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { store, retentionMs, clock, log, signal } = deps;
  while (!signal.aborted) {
    try {
      const deleted = await store.log.retain(clock.now() - retentionMs, STEP_ROWS);
      await clock.sleep(deleted > 0 ? PAUSE_BETWEEN_STEPS_MS : PAUSE_MS, signal);
    } catch (error) {
      log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'retention failed, will try again',
      );
      await clock.sleep(PAUSE_MS, signal);
    }
  }
}
