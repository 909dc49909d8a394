/** Compares the delivery log, as the REST API shows it, with what arrived at the receivers. */
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import type { Exchange } from '../models/delivery-checker.ts';
import type { Trial } from './kafka-trial.ts';
import type { RecordedDelivery } from './recorded-delivery.ts';

const RECORDED_MS_MAX = 180_000;

/**
 * Expects the log to have every delivery with its end, and every attempt that a receiver saw, with its response. An
 * attempt that was cut off and repeated has one entry, with one of its responses.
 */
export async function expectLogEqualsArrivals(trial: Trial): Promise<void> {
  const arrived = new Map<string, Exchange[]>();
  for (const exchange of trial.exchanges) {
    const known = arrived.get(exchange.deliveryId);
    if (known) known.push(exchange);
    else arrived.set(exchange.deliveryId, [exchange]);
  }
  const wrong: string[] = [];
  await trial.eachDelivery(async (id, read) => {
    const own = arrived.get(id) ?? [];
    let differences: readonly string[] = [];
    await eventually(
      `the log of ${id} equals the arrivals`,
      async () => {
        const found = await read();
        differences = found ? compare(found, own) : ['it is not in the log'];
        return differences.length === 0;
      },
      RECORDED_MS_MAX,
    ).catch(() => {});
    wrong.push(...differences.map((difference) => `${id}: ${difference}`));
  });
  expect(wrong).toEqual([]);
}

function compare({ status, attempts }: RecordedDelivery, arrived: readonly Exchange[]): readonly string[] {
  const differences: string[] = [];
  const isDelivered = arrived.some((exchange) => exchange.status === 200);
  const end = isDelivered ? 'delivered' : 'exhausted';
  if (status !== end) differences.push(`its status is ${status}, not ${end}`);
  const recorded = new Map(attempts.map((attempt) => [attempt.number, attempt]));
  if (recorded.size !== attempts.length) differences.push('an attempt is recorded twice');
  for (const number of new Set(arrived.map(({ attempt }) => attempt))) {
    const attempt = recorded.get(number);
    const statuses = arrived.filter((each) => each.attempt === number).map((each) => each.status);
    if (!attempt) differences.push(`attempt ${number} arrived and is not recorded`);
    else if (attempt.response_status !== null && !statuses.includes(attempt.response_status))
      differences.push(`attempt ${number} is recorded with ${attempt.response_status}, not ${statuses}`);
  }
  for (const { number, response_status } of attempts)
    if (response_status !== null && !arrived.some(({ attempt }) => attempt === number))
      differences.push(`attempt ${number} has a response and did not arrive`);
  return differences;
}
