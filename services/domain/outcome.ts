import type { Exchange, FailureCode } from './attempt.ts';
import type { Endpoint } from './endpoint.ts';
import { retryDueAt } from './retry.ts';
import type { DeliveryTask } from './task.ts';

/**
 * Why a delivery was cancelled without (further) attempts. `endpoint_changed`: it no longer takes the event, as found when a
 * crash made the event be routed again; of a test, it no longer has the prepared secret that was to sign it.
 */
export const CANCEL_REASONS = [
  'endpoint_deleted',
  'endpoint_disabled',
  'endpoint_auto_disabled',
  'endpoint_changed',
] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

/** Returns why nothing may be sent to an endpoint in its present state, or null when it is active. */
export function cancelReason(endpoint: Pick<Endpoint, 'status'> | undefined): CancelReason | null {
  switch (endpoint?.status) {
    case undefined:
      return 'endpoint_deleted';
    case 'disabled':
      return 'endpoint_disabled';
    case 'auto_disabled':
      return 'endpoint_auto_disabled';
    case 'active':
      return null;
  }
}

/** An exchange that counts as an attempt: our own shutdown did not cut it off. */
export type CountedExchange = Exclude<Exchange, { kind: 'interrupted' }>;

/** The decision after an attempt: a closed union, applied by one switch in the sender. */
export type Outcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly dueAt: number }
  | { readonly kind: 'exhausted' }
  /** 410: the receiver never wants this again. */
  | { readonly kind: 'refused' };

/**
 * Decides what follows an exchange (docs/decisions.md, "Delivery rules").
 * `endedAt`: when the attempt ended, milliseconds; `retryScale` divides the delays (1 in production).
 */
export function decide(
  task: Pick<DeliveryTask, 'attempt' | 'attemptsMax'>,
  exchange: CountedExchange,
  endedAt: number,
  retryScale: number,
): Outcome {
  switch (exchange.kind) {
    case 'acknowledged':
      return { kind: 'delivered' };
    case 'failed':
      if (isFinal(exchange.failureCode)) return { kind: 'refused' };
      if (task.attempt >= task.attemptsMax) return { kind: 'exhausted' };
      return { kind: 'retry', dueAt: retryDueAt(task.attempt, endedAt, retryScale) };
  }
}

/** 410 Gone is the only response that ends a delivery at once; every other failure is retried. */
function isFinal(code: FailureCode): boolean {
  return code === 'endpoint_gone';
}
