import { TIERS } from '../../services/domain/retry.ts';
import { type Counts, sumOf, totalOf } from './counts.ts';

/** Numbers of tasks that were put back without an attempt, by the tier on which they wait, seconds. */
export type Parked = Counts;

const PARKED = /^hookrail_parked_total\{[^}]*tier="(\d+)"[^}]*\} (\S+)$/gm;
const SHORTEST = `${TIERS[0]}`;

/** Reads what a process has parked so far from its metrics. */
export function parkedIn(metrics: string): Parked {
  return sumOf([...metrics.matchAll(PARKED)].map(([, tier = '', count]) => ({ [tier]: Number(count) })));
}

/** Returns the number of tasks parked on the shortest tier. */
export function parkedSoon(parked: Parked): number {
  return parked[SHORTEST] ?? 0;
}

/** Returns the number of tasks parked on longer tiers, where they wait for minutes. */
export function parkedLater(parked: Parked): number {
  return totalOf(parked) - parkedSoon(parked);
}
