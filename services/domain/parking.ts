import type { JournalEntry } from './journal.ts';
import { TIERS, type Tier } from './retry.ts';
import type { DeliveryTask, ParkedReason } from './task.ts';

/**
 * Returns whether the delivery log records that a task is parked: always on a long tier, else the second, fourth,
 * eighth … time. A task that comes up every few seconds for hours makes a few entries; one that is parked for a moment
 * makes none.
 */
function isRecorded(tier: Tier, hop: number, reason: ParkedReason): boolean {
  const times = hop + 1;
  // A merchant who limits an endpoint asks why a delivery waits.
  if (times === 1 && reason === 'rate_limited_here') return true;
  return tier > TIERS[0] || (times > 1 && (times & (times - 1)) === 0);
}

/** Put back, uncounted: comes up after the tier's delay with hop + 1. Only some have a journal entry. */
export interface ParkedSettlement {
  readonly kind: 'parked';
  readonly tier: Tier;
  readonly reason: ParkedReason;
  readonly journal?: readonly JournalEntry[];
}

/** Returns the task as it waits: one hop further, and parked since it was first put back. `now`: of the engine's clock. */
export function parkedTask(
  task: DeliveryTask,
  { tier, reason }: ParkedSettlement,
  { now, retryScale }: { readonly now: number; readonly retryScale: number },
): DeliveryTask {
  // Rounded up: never early.
  const dueAt = Math.ceil(now + (tier * 1000) / retryScale);
  return { ...task, dueAt, hop: task.hop + 1, parked: { reason, since: task.parked?.since ?? now } };
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
): ParkedSettlement {
  if (!isRecorded(tier, task.hop, reason)) return { kind: 'parked', tier, reason, journal: [] };
  const {
    dueAt: _dueAt,
    hop: _hop,
    body: _body,
    traceparent: _trace,
    linkedSpan: _span,
    parked: _parked,
    ...delivery
  } = task;
  const until = Math.ceil(now + (tier * 1000) / retryScale);
  return { kind: 'parked', tier, reason, journal: [{ kind: 'parked', at: now, delivery, reason, until }] };
}
