/**
 * Guarantee: an endpoint with a limit of its own gets no more requests in any second, each first attempt of an entity in
 * order, none twice and none lost: also when the service is killed, or the limit is changed, while they wait. Others get
 * theirs at once, and a delivery that waits says why.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  type Arrival,
  type LoggingReceiver,
  startLoggingReceiver,
} from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

/** Generous: it only ends a test that hangs. */
const MS_MAX = 110_000;
const ENDPOINTS = '/merchant/webhook-endpoints';
let setup: ServiceSetup;
let receiver: LoggingReceiver;
let service: Service;
let merchant: MerchantClient;

beforeAll(async () => {
  setup = await prepareSetup();
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  service = await startService(setup.environment);
  merchant = new MerchantClient(setup, () => service);
});

afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const to = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);

/** Publishes events of ten entities in turn. */
async function publish(count: number, name: string): Promise<void> {
  const events = Array.from({ length: count }, (_, index) =>
    jsonEventOf(setup.merchantId, `${name} ${index}`, { entityId: entityOf(index) }),
  );
  for (let from = 0; from < count; from += 100)
    expect((await merchant.publish(events.slice(from, from + 100))).status).toBe(202);
}

const entityOf = (index: number) => `3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a1${index % 10}`;

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

it('500 events at once arrive at the limit, in order and once each, and a neighbour gets its own at once', async () => {
  const limited = await merchant.createEndpoint(`${receiver.url}/limited`, { requests_per_second: 50 });
  await merchant.createEndpoint(`${receiver.url}/free`);
  await publish(500, 'burst');
  await eventually('the neighbour has all', () => to('/free').length === 500, MS_MAX);
  expect(to('/limited').length).toBeLessThan(400);
  const { body } = await merchant.request(
    'GET',
    `${ENDPOINTS}/${limited.uuid}/deliveries?status=pending&limit=100`,
  );
  const waiting = (body.data as { parked_reason: string | null; attempts_made: number }[]).filter(
    ({ parked_reason }) => parked_reason !== null,
  );
  expect(waiting.length).toBeGreaterThan(10);
  expect(
    new Set(waiting.map(({ parked_reason, attempts_made }) => `${parked_reason} ${attempts_made}`)),
  ).toEqual(new Set(['rate_limited_here 0']));
  await eventually('the limited endpoint has all', () => to('/limited').length >= 500, MS_MAX);
  const arrivals = to('/limited');
  expect(new Set(arrivals.map(({ deliveryId }) => deliveryId)).size).toBe(500);
  expect(new Set(arrivals.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  // Starts are spaced out exactly; a request may be on its way for longer than the one after it.
  const [first, last] = [arrivals[0]?.at ?? 0, arrivals.at(-1)?.at ?? 0];
  expect(last - first).toBeGreaterThan((499 * 1010) / 50 - 1000);
  expect(overtaken(arrivals)).toBe(0);
}, 120_000);

it('deliveries that wait outlive a kill, and a limit that is raised holds for them', async () => {
  const { uuid } = await merchant.createEndpoint(`${receiver.url}/killed`, { requests_per_second: 5 });
  await publish(300, 'killed');
  await eventually('some have arrived', () => to('/killed').length > 5, MS_MAX);
  await service.end('SIGKILL');
  service = await startService(setup.environment);
  await merchant.request('PATCH', `${ENDPOINTS}/${uuid}`, { requests_per_second: 1000 });
  const arrived = () => new Set(to('/killed').map(({ deliveryId }) => deliveryId)).size;
  await eventually('all have arrived', () => arrived() === 300, MS_MAX);
}, 120_000);

it('deliveries that wait for an endpoint that is disabled are cancelled, and its neighbour is not', async () => {
  const { uuid } = await merchant.createEndpoint(`${receiver.url}/disabled`, { requests_per_second: 1 });
  await publish(20, 'disabled');
  await eventually('one has arrived', () => to('/disabled').length > 0, MS_MAX);
  await merchant.request('PATCH', `${ENDPOINTS}/${uuid}`, { status: 'disabled' });
  const cancelled = async () => {
    const { body } = await merchant.request(
      'GET',
      `${ENDPOINTS}/${uuid}/deliveries?status=cancelled&limit=100`,
    );
    return body.data.length + to('/disabled').length >= 20;
  };
  await eventually('the others are cancelled', cancelled, MS_MAX);
  await eventually('the neighbour has all', () => to('/free').length >= 820, MS_MAX);
}, 120_000);
