import type { Broker, RecordStore } from '../broker/broker.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Clock } from '../process/clock.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

const PAUSE_MS = 60_000;
/** Rows per step: few, so that a step never holds up recording. */
const STEP_ROWS = 400;
/**
 * The shortest pause after a step; otherwise the pause lasts as long as the step. A step waits its turn behind the
 * journal's batches, so a busy store slows it down. Measured: about 8,000 rows/s beside a journal at its limit.
 */
const PAUSE_BETWEEN_STEPS_MS_MIN = 5;
/** Quarantined records and dead letters wait for an operator for at least a month, as on Kafka. */
const STORED_MS_MIN = 30 * 86_400_000;
/**
 * The feed is for readers that were away for a while, and is gone well before what it refers to: half the retention at
 * most.
 */
const FEED_MS_MAX = 7 * 86_400_000;
/** How often the store is purged, once something was deleted: deleted rows may have copies in unused parts of its files. */
const PURGE_MS = 86_400_000;
/** Records read together: each holds a body. */
const RECORDS_STEP = 50;

export interface RetentionDeps {
  readonly store: Pick<Store, 'log' | 'feed' | 'erasures'>;
  readonly broker: Pick<Broker, 'deadLetters' | 'quarantine' | 'capabilities'>;
  readonly retentionMs: number;
  /** At most `retentionMs`: bodies are deleted first. */
  readonly bodyRetentionMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Deletes what is older than its retention, by age, in small steps, until the signal fires. */
export async function runRetention(deps: RetentionDeps): Promise<void> {
  const { clock, log, signal } = deps;
  let hasDeleted = false;
  let purgedAt = clock.now();
  while (!signal.aborted) {
    try {
      const startedAt = clock.now();
      const gone = await step(deps, clock.wall());
      hasDeleted ||= gone > 0;
      if (gone === 0 && hasDeleted && clock.now() >= purgedAt + PURGE_MS) {
        await deps.store.erasures.purge();
        hasDeleted = false;
        purgedAt = clock.now();
      }
      const took = clock.now() - startedAt;
      const pause = Math.min(PAUSE_MS, Math.max(PAUSE_BETWEEN_STEPS_MS_MIN, took));
      await clock.sleep(gone > 0 ? pause : PAUSE_MS, signal);
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'retention failed, will try again');
      await clock.sleep(PAUSE_MS, signal);
    }
  }
}

/** Returns the number of rows processed; 0 = nothing is too old. */
async function step(deps: RetentionDeps, now: number): Promise<number> {
  const { store, broker, retentionMs, bodyRetentionMs } = deps;
  const feed = await store.feed.retain(now - Math.min(FEED_MS_MAX, retentionMs / 2), STEP_ROWS);
  if (feed > 0) return feed;
  const deleted = await store.log.retain(now - retentionMs, STEP_ROWS);
  if (deleted > 0) return deleted;
  // Bodies of deleted rows are deleted with them.
  const hasShorter = bodyRetentionMs < retentionMs;
  const bodies = hasShorter ? await store.log.removeBodies(now - bodyRetentionMs, STEP_ROWS) : 0;
  if (bodies > 0 || broker.capabilities.hasRetention) return bodies;
  const before = now - Math.max(retentionMs, STORED_MS_MIN);
  return (await forgetOld(broker.deadLetters, before)) + (await forgetOld(broker.quarantine, before));
}

/** Forgets old records. A record store is in the order of time, so the first young record ends the search. */
async function forgetOld(records: RecordStore<{ readonly at: number }>, before: number): Promise<number> {
  const oldest = await records.list({ limit: RECORDS_STEP });
  const old = oldest.filter(({ record }) => record.at < before).map(({ position }) => position);
  await records.forget(old);
  return old.length;
}
