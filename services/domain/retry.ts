/**
 * The schedule (docs/specification.md, "Delivery and retry"): at most seven attempts; before retry n, n⁶ + 2 seconds.
 */
export const ATTEMPTS_MAX = 7;

/** Returns the delay in seconds before retry n (1 … 6), measured from the end of the failed attempt n. */
export function retryDelaySeconds(retry: number): number {
  if (!Number.isInteger(retry) || retry < 1 || retry >= ATTEMPTS_MAX) {
    throw new RangeError(`there is no retry ${retry}: a webhook is retried 1 to ${ATTEMPTS_MAX - 1} times`);
  }
  return retry ** 6 + 2;
}

/** The delays as tiers, in seconds. A tier is a topic in Kafka; parked tasks use these too. */
export const TIERS = [3, 66, 731, 4098, 15627, 46658] as const;
export type Tier = (typeof TIERS)[number];
/** The longest time from a first attempt to the last retry, seconds. */
export const SCHEDULE_SECONDS = TIERS.reduce((sum, tier) => sum + tier, 0);
const LONGEST = TIERS[5];

/**
 * Returns when the attempt after failed attempt n is due: milliseconds since the epoch, rounded up, never early.
 * `scale` divides the delay (sandbox only; 1 = the specified schedule).
 */
export function retryDueAt(failedAttempt: number, endedAt: number, scale = 1): number {
  return Math.ceil(endedAt + (retryDelaySeconds(failedAttempt) * 1000) / scale);
}

/**
 * Returns the shortest tier that lasts at least this many seconds, or the longest tier. Used for tasks that wait for a
 * receiver or a network, whose recovery takes as long at every scale.
 */
export function tierLasting(seconds: number, scale: number): Tier {
  return TIERS.find((tier) => tier / scale >= seconds) ?? LONGEST;
}

/** Returns the tier that attempt n (2 … 7) waits on. */
export function tierOfAttempt(attempt: number): Tier {
  const tier = TIERS[attempt - 2];
  if (tier === undefined) throw new RangeError(`attempt ${attempt} does not wait on a tier`);
  return tier;
}
