import { STATUS, TRIGGER } from './codes.ts';

/** A delivery while a batch changes it; written once, in its last state. */
export interface Delivery {
  readonly seq: number;
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly endpoint: number;
  readonly event: number;
  readonly type: number;
  readonly apiVersion: number;
  readonly trigger: number;
  readonly attemptsMax: number;
  /** 1 when its event's bodies were removed, else 0. */
  readonly isRemoved: number;
  createdAt: number;
  status: number;
  cancelReason: number | null;
  attemptsMade: number;
  nextAttemptAt: number | null;
  lastAttemptAt: number | null;
  lastResponseStatus: number | null;
  lastFailureCode: number | null;
  /** Why it is parked, while it waits. */
  parked: number | null;
  isNew: boolean;
  isChanged: boolean;
}

/** A delivery that is recorded for the first time, in codes and the log's numbers. */
export interface NewDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly endpoint: number;
  readonly event: number;
  readonly type: number;
  readonly apiVersion: number;
  readonly trigger: number;
  readonly attemptsMax: number;
  readonly createdAt: number;
  readonly isRemoved: boolean;
}

/** Returns a delivery that waits for its first attempt. */
export function newDelivery(seq: number, made: NewDelivery): Delivery {
  return {
    seq,
    deliveryId: made.deliveryId,
    endpointId: made.endpointId,
    endpoint: made.endpoint,
    event: made.event,
    type: made.type,
    apiVersion: made.apiVersion,
    trigger: made.trigger,
    attemptsMax: made.attemptsMax,
    isRemoved: made.isRemoved ? 1 : 0,
    createdAt: made.createdAt,
    status: STATUS.of.pending,
    cancelReason: null,
    attemptsMade: 0,
    nextAttemptAt: null,
    lastAttemptAt: null,
    lastResponseStatus: null,
    lastFailureCode: null,
    parked: null,
    isNew: true,
    isChanged: false,
  };
}

/** The result of an attempt, in codes. */
export interface AttemptResult {
  readonly number: number;
  readonly startedAt: number;
  readonly status: number;
  readonly nextAttemptAt: number | null;
  readonly responseStatus: number | null;
  readonly failureCode: number | null;
}

/** The numbers of one delivery's attempts fit in one byte. */
export const ATTEMPTS_PER_DELIVERY = 256;

/**
 * Applies an attempt: pending → failed (retries left) → delivered | exhausted | refused | cancelled. Entries may arrive
 * twice and, from different partitions, out of order: the highest attempt wins, and a delivered delivery stays delivered.
 */
export function applyAttempt(delivery: Delivery, result: AttemptResult): void {
  if (result.number <= delivery.attemptsMade && result.status !== STATUS.of.delivered) return;
  if (result.number >= delivery.attemptsMade) {
    delivery.lastAttemptAt = result.startedAt;
    delivery.lastResponseStatus = result.responseStatus;
    delivery.lastFailureCode = result.failureCode;
    delivery.attemptsMade = result.number;
  }
  delivery.isChanged = true;
  if (delivery.status === STATUS.of.delivered) return;
  delivery.status = result.status;
  delivery.nextAttemptAt = result.nextAttemptAt;
  delivery.parked = null;
  delivery.cancelReason = null;
}

/** Statuses that no cancellation changes. */
const ENDED: readonly number[] = [STATUS.of.delivered, STATUS.of.exhausted, STATUS.of.refused];

/** The attempt with this number will not be made. The copy of a task whose attempt was made changes nothing. */
export function applyCancel(delivery: Delivery, attempt: number, reason: number): void {
  if (ENDED.includes(delivery.status) || attempt <= delivery.attemptsMade) return;
  delivery.status = STATUS.of.cancelled;
  delivery.cancelReason = reason;
  delivery.nextAttemptAt = null;
  delivery.parked = null;
  delivery.isChanged = true;
}

/** The attempt with this number was put back. An attempt that was made or cancelled is not changed. */
export function applyParked(delivery: Delivery, attempt: number, reason: number, until: number | null): void {
  const waits = delivery.status === STATUS.of.pending || delivery.status === STATUS.of.failed;
  if (!waits || attempt <= delivery.attemptsMade) return;
  delivery.parked = reason;
  delivery.nextAttemptAt = until;
  delivery.isChanged = true;
}

/** Tests and manual resends do not count for an endpoint's health (docs/decisions.md, "Auto-disable"). */
export function countsForHealth(trigger: number): boolean {
  return trigger !== TRIGGER.of.test && trigger !== TRIGGER.of.manual;
}
