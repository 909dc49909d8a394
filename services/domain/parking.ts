import type { JournalEntry, ParkedReason } from './journal.ts';
import { TIERS, type Tier } from './retry.ts';
import type { DeliveryTask } from './task.ts';

/**
 * Returns whether the delivery log records that a task is parked: always on a long tier, else the second, fourth,
 * eighth … time. A task that comes up every few seconds for hours makes a few entries; one that is parked for a moment
 * makes none.
 */
function isRecorded(tier: Tier, hop: number): boolean {
  const times = hop + 1;
  return tier > TIERS[0] || (times > 1 && (times & (times - 1)) === 0);
}

/**
 * Returns the settlement of a task that is parked at `now`, by the system's time. `retryScale` divides the tier's
 * delay.
 */
export function parkTask(
  task: DeliveryTask,
  tier: Tier,
  reason: ParkedReason,
  { now, retryScale }: { readonly now: number; readonly retryScale: number },
): { readonly kind: 'parked'; readonly tier: Tier; readonly journal: readonly JournalEntry[] } {
  if (!isRecorded(tier, task.hop)) return { kind: 'parked', tier, journal: [] };
  const { dueAt: _dueAt, hop: _hop, body: _body, traceparent: _trace, linkedSpan: _span, ...delivery } = task;
  const until = Math.ceil(now + (tier * 1000) / retryScale);
  return { kind: 'parked', tier, journal: [{ kind: 'parked', at: now, delivery, reason, until }] };
}
