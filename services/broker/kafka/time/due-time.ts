import type { Tier } from '../../../domain/retry.ts';
import type { DeliveryTask } from '../../../domain/task.ts';

/** A due time that exceeds the tier's delay by more than this was written by a process with a wrong clock. */
const LATER_MS_MAX = 60_000;

/** When a record of a tier may be handed over, by the brokers' time. */
export interface DueWindow {
  /** When its delay ends. It was appended after the previous attempt had ended: this is never early. */
  readonly earliest: number;
  /** It waits no longer than this, whatever its task says. */
  readonly latest: number;
}

/**
 * Returns the window of a record that was appended at `appendedAt`. The schedule's delay may be scaled; a task written
 * under a smaller scale keeps its time.
 */
export function dueWindow(appendedAt: number, tier: Tier, retryScale: number): DueWindow {
  const fullMs = tier * 1000;
  const delayMs = fullMs / retryScale;
  return { earliest: appendedAt + delayMs, latest: appendedAt + Math.max(fullMs, delayMs) + LATER_MS_MAX };
}

type TaskTiming = Pick<DeliveryTask, 'dueAt' | 'attempt' | 'hop'>;

/**
 * Returns when a task is due, by the brokers' time. A first attempt that was published for later may have any due time.
 */
export function dueTime({ dueAt, attempt, hop }: TaskTiming, { earliest, latest }: DueWindow): number {
  const isPutOff = attempt === 1 && hop === 0;
  return Math.max(earliest, isPutOff ? dueAt : Math.min(dueAt, latest));
}
