/**
 * Guarantee: while an operator holds a merchant's deliveries nothing is sent to it, nothing is lost and no attempt is
 * counted: new events are routed and wait, retries wait, through a restart too. Afterwards all of them are delivered.
 * Other merchants notice nothing. The whole service runs, with real files and real HTTPS.
 */
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const EVENTS = 30;
const IN_FORCE_MS = 1000;

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
let status = 200;

beforeAll(async () => {
  // Retries after 15 ms, 0.33 s, 3.7 s; what waits on hold comes again after 0.33 s.
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '200', HOOKRAIL_LOG_LEVEL: 'silent' });
  receiver = await startLoggingReceiver(setup.receiverCert, ({ path }) => (path === '/other' ? 200 : status));
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const operator = (...argv: string[]) => toolAnswer(besides(setup.environment, hookrail), ...argv);

/** Waits until so many tasks have come up since the start and were put back. */
async function heldBack(count: number): Promise<void> {
  const pattern = /^hookrail_parked_total\{[^}]*merchant_paused[^}]*\} (\d+)/m;
  await eventually(`${count} tasks are put back`, async () => {
    const metrics = await (await fetch(`${hookrail.operationsUrl}/metrics`)).text();
    return Number(pattern.exec(metrics)?.[1] ?? 0) >= count;
  });
}

it('a hold keeps a merchant’s deliveries back and loses none', async () => {
  const { merchantId } = setup;
  const endpoint = await merchant.createEndpoint(`${receiver.url}/held`);
  const other = await operator('merchants', 'create', '--name', 'Another');
  const { key } = await operator('keys', 'create', '--merchant', other.merchantId);
  const another = new MerchantClient({ ...setup, apiKey: key }, () => hookrail);
  await another.createEndpoint(`${receiver.url}/other`);
  const at = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);
  const path = `/merchant/webhook-endpoints/${endpoint.uuid}/deliveries`;
  const delivery = async (eventId: string) =>
    (await merchant.request('GET', path)).body.data.find(
      ({ event_uuid }: { event_uuid: string }) => event_uuid === eventId,
    );

  status = 500;
  const failing = jsonEventOf(merchantId, 'failing');
  await merchant.publish([failing]);
  await eventually('three attempts have arrived', () => at('/held').length === 3);
  await operator('merchants', 'pause', merchantId);
  // A change is in force a second after it was made, as README promises, and not before.
  await setTimeout(IN_FORCE_MS);
  status = 200;
  const held = Array.from({ length: EVENTS }, (_, n) => jsonEventOf(merchantId, `held ${n}`));
  const free = Array.from({ length: EVENTS }, (_, n) => jsonEventOf(other.merchantId, `free ${n}`));
  expect((await merchant.publish([...held, ...free])).status).toBe(202);
  await eventually('the other merchant’s webhooks arrive', () => at('/other').length === EVENTS);
  const [first] = held;
  const waiting = await eventually('the event is routed', () => delivery(first?.header.eventId ?? ''));
  expect(waiting).toMatchObject({ status: 'pending', held: true, attempts_made: 0 });
  const test = { type: 'KYC', subType: 'KYC_PENDING', user_uuid: failing.header.entityId };
  const tested = await merchant.request('POST', path.replace('deliveries', 'test'), test);
  expect([tested.status, tested.body.warnings]).toEqual([
    202,
    [expect.objectContaining({ code: 'deliveries_held' })],
  ]);
  // Everything comes up a few times, the retry too, and is put back; and so after a restart.
  await heldBack(4 * (EVENTS + 2));
  await hookrail.stop();
  hookrail = await startHookrail(setup.environment);
  await heldBack(4 * (EVENTS + 2));
  expect(at('/held')).toHaveLength(3);
  expect(await delivery(failing.header.eventId)).toMatchObject({
    status: 'failed',
    held: true,
    attempts_made: 3,
  });

  await operator('merchants', 'resume', merchantId);
  await eventually('every webhook has arrived', () => at('/held').length === 3 + 1 + EVENTS + 1, 60_000);
  const arrived = at('/held').filter(({ status }) => status === 200);
  const ids = [failing, ...held].map(({ header }) => header.eventId);
  expect(arrived.map(({ eventId }) => eventId)).toEqual(expect.arrayContaining(ids));
  expect(arrived.find(({ eventId }) => eventId === failing.header.eventId)?.attempt).toBe(4);
  expect(
    arrived.filter(({ eventId }) => ids.slice(1).includes(eventId)).map(({ attempt }) => attempt),
  ).toEqual(Array(EVENTS).fill(1));
  const over = await eventually('the delivery is recorded', async () => {
    const found = await delivery(failing.header.eventId);
    return found.status === 'delivered' ? found : null;
  });
  expect(over).toMatchObject({ held: false, attempts_made: 4 });
}, 120_000);
