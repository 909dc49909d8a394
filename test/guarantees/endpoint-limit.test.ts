/**
 * Guarantee: an endpoint with a limit of its own gets no more requests in any second, each first attempt of an entity in
 * order, none twice and none lost: also when the service is killed, or the limit is changed, while they wait. Others get
 * theirs at once, and a delivery that waits says why.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';
import { expectBurstAtLimit, publishBurst } from '../support/trials/limits/limited-burst.ts';

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

const trial = () => ({ merchantId: setup.merchantId, merchant, receiver, msMax: MS_MAX });
const publish = (count: number, name: string) => publishBurst(trial(), count, name);

it('500 events at once arrive at the limit, in order and once each, and a neighbour gets its own at once', async () => {
  const perSecond = 50;
  const { uuid } = await merchant.createEndpoint(`${receiver.url}/limited`, {
    requests_per_second: perSecond,
  });
  await merchant.createEndpoint(`${receiver.url}/free`);
  const burst = { limitedId: uuid, events: 500, perSecond };
  await expectBurstAtLimit(trial(), burst, { limited: '/limited', free: '/free' });
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
