import type { FailureCode } from './attempt.ts';

/**
 * When a failing endpoint is disabled automatically (docs/decisions.md, "Auto-disable"). All limits must be
 * reached.
 */
export interface HealthPolicy {
  /** Milliseconds without a success. Must exceed the 18.7 h of a schedule, or one bad event disables an endpoint. */
  readonly withoutSuccessMs: number;
  /** Failed attempts without a success between them. */
  readonly failedAttempts: number;
}

/** Deliveries that must have ended without success since the last success. */
const EXHAUSTED_DELIVERIES = 1;

/** The results of an endpoint's recent attempts. Immutable: `observe` returns the next value. */
export interface Health {
  /** Failed attempts since the last success, the creation or the last activation. */
  readonly failureCount: number;
  /** Deliveries that ended without success since then. */
  readonly exhaustedCount: number;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  readonly lastFailure: { readonly code: FailureCode; readonly responseStatus: number | null } | null;
}

export const HEALTHY: Health = {
  failureCount: 0,
  exhaustedCount: 0,
  lastSuccessAt: null,
  lastFailureAt: null,
  lastFailure: null,
};

/** One counted attempt: made under the endpoint's current version, for a live or replayed event. */
export type Observation =
  | { readonly kind: 'success'; readonly endedAt: number }
  | {
      readonly kind: 'failure';
      readonly endedAt: number;
      readonly code: FailureCode;
      readonly responseStatus: number | null;
      /** The delivery has ended: its last attempt failed, or a 410 ended it. */
      readonly isLast: boolean;
    };

/**
 * Returns the health after one more attempt. Times in milliseconds since the epoch; attempts may arrive out of order.
 */
export function observe(health: Health, seen: Observation): Health {
  if (seen.kind === 'success') {
    const lastSuccessAt = Math.max(seen.endedAt, health.lastSuccessAt ?? seen.endedAt);
    const { lastFailureAt, lastFailure } = health;
    return { failureCount: 0, exhaustedCount: 0, lastSuccessAt, lastFailureAt, lastFailure };
  }
  const isNewest = health.lastFailureAt === null || seen.endedAt >= health.lastFailureAt;
  const lastFailureAt = isNewest ? seen.endedAt : health.lastFailureAt;
  const lastFailure = isNewest
    ? { code: seen.code, responseStatus: seen.responseStatus }
    : health.lastFailure;
  // A failure older than the last success does not describe the endpoint as it is now.
  if (health.lastSuccessAt !== null && seen.endedAt < health.lastSuccessAt) {
    return { ...health, lastFailureAt, lastFailure };
  }
  return {
    lastSuccessAt: health.lastSuccessAt,
    failureCount: health.failureCount + 1,
    exhaustedCount: health.exhaustedCount + (seen.isLast ? 1 : 0),
    lastFailureAt,
    lastFailure,
  };
}

/**
 * Returns the reason to disable the endpoint after this attempt, or null. A 410 disables it at once; otherwise all of
 * these must hold: no success for `withoutSuccessMs`, enough failures and an exhausted delivery. `activeSince`: the
 * later of its creation and its last activation, milliseconds since the epoch.
 */
export function disableReason(
  health: Health,
  seen: Observation,
  activeSince: number,
  policy: HealthPolicy,
): 'gone' | 'consecutive_failures' | null {
  if (seen.kind === 'success') return null;
  if (seen.code === 'endpoint_gone') return 'gone';
  const withoutSuccessMs = seen.endedAt - Math.max(activeSince, health.lastSuccessAt ?? activeSince);
  const isFailing =
    withoutSuccessMs >= policy.withoutSuccessMs &&
    health.failureCount >= policy.failedAttempts &&
    health.exhaustedCount >= EXHAUSTED_DELIVERIES;
  return isFailing ? 'consecutive_failures' : null;
}
