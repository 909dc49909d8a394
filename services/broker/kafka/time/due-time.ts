import type { Tier } from '../../../domain/retry.ts';
import type { DeliveryTask } from '../../../domain/task.ts';

/** A due time that is later than the tier's delay by more than this was written by a process whose clock was wrong. */
const LATER_MS_MAX = 60_000;

/** When a record of a tier may be handed over, by the brokers' time. */
export interface DueWindow {
  /** When its delay is over. It was appended after the attempt before had ended: this is never early. */
  readonly earliest: number;
  /** It waits no longer than this, whatever its task says. */
  readonly latest: number;
}

/**
 * The window of a record that was appended at `appendedAt`. The delay of the schedule may be scaled; a task that was
 * written under a smaller scale keeps its time.
 */
export function dueWindow(appendedAt: number, tier: Tier, retryScale: number): DueWindow {
  const fullMs = tier * 1000;
  const delayMs = fullMs / retryScale;
  return { earliest: appendedAt + delayMs, latest: appendedAt + Math.max(fullMs, delayMs) + LATER_MS_MAX };
}

type Said = Pick<DeliveryTask, 'dueAt' | 'attempt' | 'hop'>;

/** When a task is due, by the brokers' time. A first attempt that somebody put off has any due time. */
export function dueTime({ dueAt, attempt, hop }: Said, { earliest, latest }: DueWindow): number {
  const isPutOff = attempt === 1 && hop === 0;
  return Math.max(earliest, isPutOff ? dueAt : Math.min(dueAt, latest));
}
