/** When the first attempts of a trial's deliveries arrived at the receivers. */
import { eventually } from '../eventually.ts';
import type { Trial } from './kafka-trial.ts';

const GO_ON_MS_MAX = 60_000;

type Observed = Pick<Trial, 'exchanges' | 'owed'>;

/**
 * Returns how long each delivery took whose event was acknowledged in this time: from then to its first arrival,
 * milliseconds; infinite where nothing has arrived.
 */
export function arrivalDelays({ exchanges, owed }: Observed, from: number, to: number): number[] {
  const arrivals = new Map<string, number>();
  for (const { deliveryId, at } of exchanges)
    arrivals.set(deliveryId, Math.min(at, arrivals.get(deliveryId) ?? at));
  return owed
    .filter(({ acknowledgedAt }) => acknowledgedAt >= from && acknowledgedAt <= to)
    .map(({ id, acknowledgedAt }) => (arrivals.get(id) ?? Number.POSITIVE_INFINITY) - acknowledgedAt);
}

/** Returns the longest time in this period without a first attempt, milliseconds. */
export function longestGap({ exchanges }: Pick<Observed, 'exchanges'>, from: number, to: number): number {
  const times = exchanges
    .filter(({ attempt, at }) => attempt === 1 && at >= from && at <= to)
    .map(({ at }) => at)
    .sort((one, other) => one - other);
  return Math.max(...[...times, to].map((at, index) => at - (times[index - 1] ?? from)));
}

/** Resolves when so many deliveries have arrived whose events were acknowledged after the call. */
export async function untilDeliveriesGoOn(trial: Observed, count: number): Promise<void> {
  const from = Date.now();
  const arrived = () =>
    arrivalDelays(trial, from, Number.POSITIVE_INFINITY).filter((delay) => Number.isFinite(delay)).length;
  await eventually(`${count} deliveries of later events arrive`, () => arrived() >= count, GO_ON_MS_MAX);
}
