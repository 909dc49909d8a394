/** A burst of events to an endpoint with a limit of its own and to a neighbour without one. */
import { expect } from 'vitest';
import { eventually } from '../../eventually.ts';
import type { Arrival, LoggingReceiver } from '../../receivers/logging-receiver.ts';
import { jsonEventOf } from '../../records/events.ts';
import type { MerchantClient } from '../../service/merchant-client.ts';

const ENDPOINTS = '/merchant/webhook-endpoints';
const EVENTS_PER_POST = 100;

export interface BurstTrial {
  readonly merchantId: string;
  readonly merchant: MerchantClient;
  readonly receiver: LoggingReceiver;
  /** Only against hanging. */
  readonly msMax: number;
}

/** Publishes events of ten entities in turn. `name` distinguishes them. */
export async function publishBurst({ merchantId, merchant }: BurstTrial, count: number, name: string) {
  const events = Array.from({ length: count }, (_, index) =>
    jsonEventOf(merchantId, `${name} ${index}`, { entityId: entityOf(index) }),
  );
  for (let from = 0; from < count; from += EVENTS_PER_POST)
    expect((await merchant.publish(events.slice(from, from + EVENTS_PER_POST))).status).toBe(202);
}

const entityOf = (index: number) => `3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a1${index % 10}`;

/**
 * Publishes a burst. Expects that the neighbour gets all of it while many deliveries wait for the limited endpoint, with
 * the reason in the log, and that these arrive at its limit, once each, in order, at the first attempt. `paths`: those of
 * the two endpoints at the receiver.
 */
export async function expectBurstAtLimit(
  trial: BurstTrial,
  { limitedId, events, perSecond }: { limitedId: string; events: number; perSecond: number },
  paths: { readonly limited: string; readonly free: string },
): Promise<void> {
  const { merchant, receiver, msMax } = trial;
  const to = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);
  await publishBurst(trial, events, 'burst');
  await eventually('the neighbour has all', () => to(paths.free).length === events, msMax);
  expect(to(paths.limited).length).toBeLessThan(0.8 * events);
  const pending = `${ENDPOINTS}/${limitedId}/deliveries?status=pending&limit=100`;
  const waiting = async () => {
    const { body } = await merchant.request('GET', pending);
    const deliveries = body.data as { parked_reason: string | null; attempts_made: number }[];
    return deliveries.filter(({ parked_reason }) => parked_reason !== null);
  };
  await eventually('the log says why they wait', async () => (await waiting()).length > 10, msMax);
  const reasons = (await waiting()).map((each) => `${each.parked_reason} ${each.attempts_made}`);
  expect(new Set(reasons)).toEqual(new Set(['rate_limited_here 0']));
  await eventually('the limited endpoint has all', () => to(paths.limited).length >= events, msMax);
  const arrivals = to(paths.limited);
  expect(new Set(arrivals.map(({ deliveryId }) => deliveryId)).size).toBe(events);
  expect(new Set(arrivals.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  // Starts are spaced out exactly; a request may be on its way for longer than the one after it.
  const [first, last] = [arrivals[0]?.at ?? 0, arrivals.at(-1)?.at ?? 0];
  expect(last - first).toBeGreaterThan(((events - 1) * 1010) / perSecond - 1000);
  expect(overtaken(arrivals)).toBe(0);
}

/** Returns how often a webhook came before an older one of its entity. */
function overtaken(arrivals: readonly Arrival[]): number {
  const newest = new Map<string, number>();
  let count = 0;
  for (const { headers, body } of arrivals) {
    const sequence = Number(headers['webhook-sequence']);
    const { uuid: entity } = JSON.parse(body.toString()) as { readonly uuid: string };
    if (sequence < (newest.get(entity) ?? 0)) count += 1;
    newest.set(entity, sequence);
  }
  return count;
}
