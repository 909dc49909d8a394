import type { Health, HealthPolicy } from '../health.ts';

/** The parts of the rule that disables an endpoint at which its merchant is told, per cent. */
const FAILING_LEVELS = [50, 75, 90] as const;
type FailingLevel = (typeof FAILING_LEVELS)[number];

/**
 * Returns since when an endpoint has had no success, milliseconds since the epoch; null when its newest attempt
 * succeeded, or it was activated since. `activeSince`: the later of its creation and its last activation.
 */
export function failingSince(health: Health, activeSince: number): number | null {
  const since = Math.max(activeSince, health.lastSuccessAt ?? activeSince);
  return health.lastFailureAt !== null && health.lastFailureAt > since ? since : null;
}

/** Returns how long it had had no success when it failed last, milliseconds. */
function failingMs(health: Health, activeSince: number): number {
  const since = failingSince(health, activeSince);
  return since === null || health.lastFailureAt === null ? 0 : health.lastFailureAt - since;
}

/**
 * Returns the highest level of the rule that an endpoint has reached, 0 for none: all parts of the rule that grow with time
 * have reached it. That a delivery must have ended, too, is not asked for: it would leave no time between the first notice
 * and the end.
 */
export function failingLevel(health: Health, activeSince: number, policy: HealthPolicy): FailingLevel | 0 {
  const ofTime = failingMs(health, activeSince) / policy.withoutSuccessMs;
  const share = 100 * Math.min(ofTime, health.failureCount / policy.failedAttempts);
  return FAILING_LEVELS.findLast((level) => share >= level) ?? 0;
}

/** Returns whether an endpoint has failed for so long that its merchant may have been told. */
export function mayBeTold(health: Health, activeSince: number, policy: HealthPolicy): boolean {
  return failingMs(health, activeSince) >= (FAILING_LEVELS[0] / 100) * policy.withoutSuccessMs;
}
