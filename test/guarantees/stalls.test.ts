/**
 * Guarantee: whatever makes the main thread stand still, such as a response that costs too much, ends the process with a
 * line that names it, and does not come back: what did so twice is put aside before the next attempt. The service then
 * serves and stays up, other merchants' webhooks arrive, and an operator sees the task and sends it again. Real
 * processes, files and HTTPS; only the place that stands still is planted, by a module that is loaded before the service.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type AnsweringReceiver, startAnsweringReceiver } from '../support/receivers/answering-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { FREEZING, type Launched, launch, linesOf } from '../support/service/frozen-service.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const MINUTES = 60_000;

let setup: ServiceSetup;
let receiver: AnsweringReceiver;
let launched: Launched;
let merchant: MerchantClient;
let other: MerchantClient;
let otherId: string;
const environment = () => ({ ...setup.environment, ...FREEZING });

const service = () => {
  if (!launched.service) throw new Error('the service does not run');
  return launched.service;
};
const start = async () => {
  launched = launch(environment());
  await launched.running;
};
const operator = (...argv: string[]) => toolAnswer(besides(setup.environment, service()), ...argv);
const arrivalsAt = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);

/** Starts the service again until it has been ended so many times, and once more. */
async function endedTimes(times: number): Promise<void> {
  for (let time = 1; time <= times; time += 1) {
    expect(await launched.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(linesOf(launched, 'main_thread_ended')).toHaveLength(1);
    launched = launch(environment());
  }
  await launched.running;
}

beforeEach(async () => {
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '1000' });
  receiver = await startAnsweringReceiver(setup.receiverCert);
  await start();
  merchant = new MerchantClient(setup, service);
  otherId = (await operator('merchants', 'create', '--name', 'Another')).merchantId;
  const { key } = await operator('keys', 'create', '--merchant', otherId);
  other = new MerchantClient({ ...setup, apiKey: key }, service);
}, 2 * MINUTES);

afterEach(async () => {
  await launched?.kill('SIGKILL');
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

/** A delivery of a merchant's endpoint, as the merchant sees it. */
async function deliveryOf(endpoint: string) {
  const { body } = await merchant.request('GET', `/merchant/webhook-endpoints/${endpoint}/deliveries`);
  return body.data[0];
}

async function staysUp(): Promise<void> {
  const before = arrivalsAt('/other').length;
  await other.publish([jsonEventOf(otherId, `after ${receiver.arrivals.length}`)]);
  await eventually('the other merchant gets its webhook', () => arrivalsAt('/other').length > before);
  expect((await fetch(`${service().operationsUrl}/livez`)).status).toBe(200);
  expect(service().process.signalCode).toBeNull();
}

it.each([
  ['a response’s body', { status: 200, body: 'FREEZE COMPUTING' }],
  ['a refusal’s body', { status: 500, body: 'FREEZE'.padStart(10_000) }],
  ['an interim part of a body', { status: 200, body: ['first ', 'FREEZE'] }],
])('%s that freezes the process twice is put aside', { timeout: 10 * MINUTES }, async (_, answer) => {
  const endpoint = await merchant.createEndpoint(`${receiver.url}/poison`);
  await other.createEndpoint(`${receiver.url}/other`);
  receiver.answerAt('/poison', answer);
  const event = jsonEventOf(setup.merchantId, 'poison');
  await merchant.publish([event, jsonEventOf(otherId, 'beside it')]);
  const first = launched;
  await endedTimes(2);

  const ids = { endpoint: endpoint.uuid, merchant: setup.merchantId, event: event.header.eventId };
  const told = { busy_with: 'attempt', work: expect.objectContaining({ attempt: '1', ...ids }) };
  expect(linesOf(first, 'main_thread_stalled')).toContainEqual(
    expect.objectContaining({ level: 40, ...told }),
  );
  expect(linesOf(first, 'main_thread_ended')).toEqual([expect.objectContaining({ level: 60, ...told })]);
  expect(first.output.join('')).not.toContain(endpoint.signing_secret);

  const delivery = await eventually('the delivery is shown as put aside', async () => {
    const found = await deliveryOf(endpoint.uuid);
    return found?.parked_reason === 'put_aside' ? found : null;
  });
  expect(delivery).toMatchObject({ status: 'pending', attempts_made: 0, next_attempt_at: null });
  await staysUp();
  expect(arrivalsAt('/poison')).toHaveLength(2);

  const [record] = await operator('quarantine', 'list');
  expect(record).toMatchObject({
    reason: 'attempt_stalled',
    endpointId: endpoint.uuid,
    deliveryId: delivery.delivery_uuid,
    merchantId: setup.merchantId,
    detail: expect.stringContaining('2 times'),
  });
  const metrics = await (await fetch(`${service().operationsUrl}/metrics`)).text();
  expect(metrics).toContain('hookrail_stall_ends 2');
  expect(metrics).toContain('hookrail_quarantined_total{reason="attempt_stalled"} 1');

  // It waits through another restart, too.
  await launched.kill('SIGTERM');
  await start();
  await staysUp();
  expect(arrivalsAt('/poison')).toHaveLength(2);

  receiver.answerAt('/poison', { status: 200, body: 'fine' });
  expect(await operator('quarantine', 'replay', record.position)).toEqual({ replayed: 1 });
  await eventually('it is sent again', () => arrivalsAt('/poison').length === 3);
  const sent = await eventually('the delivery is recorded', async () => {
    const found = await deliveryOf(endpoint.uuid);
    return found?.status === 'delivered' ? found : null;
  });
  expect(sent).toMatchObject({ attempts_made: 1, parked_reason: null });
  expect(await operator('quarantine', 'list')).toEqual([]);
});

it('an endpoint whose every response freezes the process ends it three times at most', {
  timeout: 4 * MINUTES,
}, async () => {
  await merchant.createEndpoint(`${receiver.url}/poison`);
  await other.createEndpoint(`${receiver.url}/other`);
  receiver.answerAt('/poison', { status: 200, body: 'FREEZE' });
  await merchant.publish(Array.from({ length: 8 }, (_, n) => jsonEventOf(setup.merchantId, `poison ${n}`)));
  await endedTimes(3);
  await eventually('all are put aside', async () => (await operator('quarantine', 'list')).length === 8);
  await merchant.publish([jsonEventOf(setup.merchantId, 'one more')]);
  await eventually('new ones are put aside', async () => (await operator('quarantine', 'list')).length === 9);
  await staysUp();

  receiver.answerAt('/poison', { status: 200, body: 'fine' });
  await operator('quarantine', 'replay', '--reason', 'attempt_stalled');
  const ok = () => receiver.arrivals.filter(({ path, body }) => path === '/poison' && body === 'fine');
  await eventually('all nine are sent', () => new Set(ok().map(({ deliveryId }) => deliveryId)).size === 9);
});

it('a request that freezes the process is named, and counts against no task', {
  timeout: 3 * MINUTES,
}, async () => {
  await merchant
    .request('POST', '/merchant/webhook-endpoints', {
      url: 'https://example.com',
      description: 'FREEZE REQUEST',
    })
    .catch(() => null);
  const first = launched;
  await endedTimes(1);
  expect(linesOf(first, 'main_thread_ended')).toEqual([
    expect.objectContaining({
      busy_with: 'request',
      work: {
        method: 'POST',
        route: '/merchant/webhook-endpoints',
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    }),
  ]);
  expect(await operator('quarantine', 'list')).toEqual([]);
});

it('an event that freezes the router twice goes to the quarantine', { timeout: 3 * MINUTES }, async () => {
  await merchant.createEndpoint(`${receiver.url}/fine`);
  const event = jsonEventOf(setup.merchantId, 'frozen');
  const poison = { ...event, data: { ...event.data, transactionHash: 'FREEZE EVENT' } };
  for (let time = 1; time <= 2; time += 1) {
    await merchant.publish([poison]).catch(() => null);
    const before = launched;
    await endedTimes(1);
    expect(linesOf(before, 'main_thread_ended')).toEqual([
      expect.objectContaining({
        busy_with: 'event',
        work: { event: event.header.eventId, merchant: setup.merchantId },
      }),
    ]);
  }
  expect((await merchant.publish([poison])).status).toBe(202);
  const [record] = await operator('quarantine', 'list');
  expect(record).toMatchObject({ reason: 'event_stalled', eventId: event.header.eventId });
});

it('a stall that ends in time is told with its length, and nothing is ended', {
  timeout: 3 * MINUTES,
}, async () => {
  await launched.kill('SIGKILL');
  launched = launch({ ...environment(), HOOKRAIL_STALL_SECONDS_MAX: '60' });
  await launched.running;
  await merchant.createEndpoint(`${receiver.url}/slow`);
  // Time in which the process waits for a busy machine does not count.
  receiver.answerAt('/slow', { status: 200, body: 'FREEZE 12000 ms' });
  await merchant.publish([jsonEventOf(setup.merchantId, 'slow')]);
  // A busy machine may have held up the start, too.
  const line = await eventually(
    'it goes on',
    () => linesOf(launched, 'main_thread_resumed').find((one) => one.busy_with === 'attempt'),
    MINUTES,
  );
  expect(line.level).toBe(40);
  expect(line.stalled_ms).toBeGreaterThan(1900);
  await eventually('it is counted', async () =>
    (await (await fetch(`${service().operationsUrl}/metrics`)).text()).match(/^hookrail_stalls_total [1-9]/m),
  );
  expect(service().process.exitCode).toBeNull();
});

it('a process that is suspended for longer than the bound goes on', { timeout: 3 * MINUTES }, async () => {
  await merchant.createEndpoint(`${receiver.url}/fine`);
  service().process.kill('SIGSTOP');
  await sleep(10_000);
  service().process.kill('SIGCONT');
  await merchant.publish([jsonEventOf(setup.merchantId, 'resumed')]);
  await eventually('the webhook arrives', () => arrivalsAt('/fine').length === 1);
  // Long enough for a watchdog that was wrong.
  await sleep(6000);
  expect(service().process.signalCode).toBeNull();
});

it('kill −9 while a response freezes the process, ten times, does not count', {
  timeout: 4 * MINUTES,
}, async () => {
  await merchant.createEndpoint(`${receiver.url}/poison`);
  receiver.answerAt('/poison', { status: 200, body: 'FREEZE' });
  await merchant.publish([jsonEventOf(setup.merchantId, 'poison')]);
  for (let time = 1; time <= 10; time += 1) {
    await eventually('the attempt is made', () => arrivalsAt('/poison').length === time, MINUTES);
    await launched.kill('SIGKILL');
    if (time === 10) receiver.answerAt('/poison', { status: 200, body: 'fine' });
    // Only the kill ends it, however slow the machine is.
    launched = launch({ ...environment(), HOOKRAIL_STALL_SECONDS_MAX: '60' });
  }
  await launched.running;
  await eventually('the webhook arrives', () => arrivalsAt('/poison').length === 11, MINUTES);
  expect(await operator('quarantine', 'list')).toEqual([]);
});
