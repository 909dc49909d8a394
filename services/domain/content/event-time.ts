/** The first moment that `occurredAt` may name: the platform has no older events. */
const OCCURRED_FROM_MS = Date.UTC(2009, 0, 1);
/** How far ahead of our clock a producer's may be. */
const AHEAD_MS_MAX = 24 * 60 * 60 * 1000;
/** The last moment that RFC 3339 can write: its years have four digits. */
export const RFC_3339_MS_MAX = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Units that producers take for milliseconds, with what one millisecond is in each. */
const UNITS = [
  ['seconds', 0.001],
  ['microseconds', 1_000],
  ['nanoseconds', 1_000_000],
] as const;

/**
 * Returns why an event cannot have occurred at a time, or undefined. A value in another unit than milliseconds lies far
 * outside the bounds: its unit is named. `at`, `now`: milliseconds since the epoch.
 */
export function occurredAtFault(at: number, now: number): string | undefined {
  const until = now + AHEAD_MS_MAX;
  if (at >= OCCURRED_FROM_MS && at <= until) return undefined;
  const bounds = `must be from 2009 to a day ahead of now, in milliseconds since 1970 or as RFC 3339 text`;
  return `${bounds}${unitHint(at, until)}`;
}

/** Returns "; this looks like seconds" for a number that is a likely time in another unit; empty for others. */
export function unitHint(at: number, until = RFC_3339_MS_MAX): string {
  const likely = UNITS.find(([, perMs]) => at / perMs >= OCCURRED_FROM_MS && at / perMs <= until);
  return likely === undefined ? '' : `; this looks like ${likely[0]}`;
}
