import { visible } from '../../services/domain/text/visible-text.ts';
import type { Watched, WatchedDelivery } from '../client/watch-news.ts';
import { formatDuration } from '../duration.ts';
import { whySkipped } from './live-lines.ts';
import type { Expectation } from './scenario.ts';

export interface Verdict {
  readonly expectation: Expectation;
  readonly met: boolean;
  /** A description of what was found instead. */
  readonly found: string;
}

/** Compares the expectations with the deliveries. `delivered` and `skipped` concern every endpoint of the merchant. */
export function judge(expectations: readonly Expectation[], watched: readonly Watched[]): readonly Verdict[] {
  return expectations.map((expectation) => {
    const seen = watched.find(({ step }) => step === expectation.step);
    if (!seen) return { expectation, met: false, found: 'it was not sent' };
    if (!seen.routed) return { expectation, met: false, found: 'it was not routed in time' };
    const deliveries = [...seen.deliveries.values()];
    if (expectation.status === 'skipped') {
      const met = deliveries.length === 0;
      return {
        expectation,
        met,
        found: met ? 'no endpoint received it' : `it was sent: ${deliveries.map(statusOf).join(', ')}`,
      };
    }
    if (deliveries.length === 0) return { expectation, met: false, found: noEndpoint(seen) };
    const statuses = deliveries.map(statusOf).join(', ');
    const fits = (delivery: WatchedDelivery | null) => delivery?.status === expectation.status;
    const met = expectation.status === 'delivered' ? deliveries.every(fits) : deliveries.some(fits);
    if (!met) return { expectation, met, found: statuses };
    const tookMs = lastEnd(deliveries) - seen.sentAt;
    const inTime = tookMs <= expectation.withinMs;
    return { expectation, met: inTime, found: `${statuses} after ${formatDuration(Math.max(0, tookMs))}` };
  });
}

/** Returns a delivery's status, with the endpoint where there are several. */
function statusOf(delivery: WatchedDelivery | null): string {
  if (delivery === null) return 'pending';
  const { status, endpoint } = delivery;
  return endpoint === undefined || endpoint.isOnly ? status : `${status} at ${visible(endpoint.label)}`;
}

function noEndpoint({ skipped }: Watched): string {
  if (skipped.length === 0)
    return 'the merchant has no endpoints: hookrail sim endpoints create --url https://…';
  return `no endpoint received it: ${skipped.map(({ endpoint, verdict }) => `${visible(endpoint.label)} (${whySkipped(verdict, endpoint.apiVersion)})`).join(', ')}`;
}

/** Returns when the last attempt ended, milliseconds since the epoch. */
function lastEnd(deliveries: readonly (WatchedDelivery | null)[]): number {
  const attempts = deliveries.flatMap((delivery) => delivery?.attempts ?? []);
  return Math.max(0, ...attempts.map((attempt) => Date.parse(attempt.started_at) + attempt.duration_ms));
}
