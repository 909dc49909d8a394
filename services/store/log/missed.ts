import { SKIP_REASON, STATUS, TRIGGER } from './codes.ts';
import type { Delivery } from './delivery.ts';

/* Which events an endpoint has missed. */

const PASSED_OVER: readonly number[] = [
  SKIP_REASON.of.endpoint_disabled,
  SKIP_REASON.of.endpoint_auto_disabled,
];

/** Statuses of deliveries that ended without success. */
const LOST: readonly number[] = [STATUS.of.exhausted, STATUS.of.refused, STATUS.of.cancelled];

/** Returns whether a replay makes up for a skip with this reason: the endpoint was disabled. */
export function isPassedOver(reason: number): boolean {
  return PASSED_OVER.includes(reason);
}

/**
 * Returns whether it is the event's own delivery, with the whole schedule. A requested delivery has one attempt, and
 * changes what was missed only when it succeeds.
 */
export function isOwn(delivery: Delivery): boolean {
  return delivery.attemptsMax > 1;
}

/** Returns what the change of a delivery's status from `before` makes of its event: missed, received after all, or neither. */
export function missedAfter(delivery: Delivery, before: number): 'missed' | 'received' | null {
  const { status, trigger } = delivery;
  if (status === before || trigger === TRIGGER.of.test) return null;
  if (LOST.includes(status) && isOwn(delivery)) return 'missed';
  const isUsual = trigger === TRIGGER.of.live && !LOST.includes(before);
  return status === STATUS.of.delivered && !isUsual ? 'received' : null;
}
