import { ATTEMPTS_MAX, retryDelaySeconds } from '../services/domain/retry.ts';
import type { components } from './generated/merchant-api.ts';

type Detail = components['schemas']['DeliveryDetail'];
type Made = Pick<Detail['attempts'][number], 'started_at' | 'duration_ms'>;
interface Planned extends Pick<Detail, 'next_attempt_at'> {
  readonly attempts: readonly Made[];
}

/** Returns when an attempt ended, milliseconds since the epoch. */
export function endOf({ started_at, duration_ms }: Made): number {
  return Date.parse(started_at) + duration_ms;
}

/** Returns how long the delivery waits for its next attempt in all; undefined when none was made. */
export function plannedGap({ next_attempt_at, attempts }: Planned): number | undefined {
  const last = attempts.at(-1);
  return last && Math.max(0, Date.parse(next_attempt_at ?? '') - endOf(last));
}

/** Returns by what the sandbox divides its delays: the schedule's delay against the one that was planned. */
export function scaleOf(retry: number, plannedMs: number | undefined): number {
  if (retry < 1 || retry >= ATTEMPTS_MAX || plannedMs === undefined || plannedMs <= 0) return 1;
  const scale = (retryDelaySeconds(retry) * 1000) / plannedMs;
  return scale < 1.1 ? 1 : scale;
}
