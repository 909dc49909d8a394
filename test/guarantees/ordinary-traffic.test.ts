/**
 * Guarantee: only causes send operational notices. The whole service delivers an hour of ordinary traffic, by the sandbox's
 * clock, to endpoints that are quick, are slow, fail now and then, or are away for a quarter of an hour; their merchant
 * makes the usual changes, and the service is restarted. An endpoint that gets every notice gets none; then two causes send
 * one each.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import {
  type Arrival,
  CONNECTION_ENDED,
  type LoggingReceiver,
  startLoggingReceiver,
} from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { clockOf, moveClock } from '../support/service/move-clock.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const MINUTE_MS = 60_000;
const MINUTES = 60;
const EVENTS_A_MINUTE = 4;
const SLOW_MS = 100;
/** The minutes in which one endpoint is away. */
const AWAY = { from: 20, until: 35 };
/** The service is restarted after these minutes: it looks at the causes outside the store at once. */
const RESTARTS = [15, 34, 50];
/** A notice would have been sent by then: the notifier has looked several times. */
const NOTHING_COMES_MS = 3000;
const KINDS = ['quick', 'slow', 'flaky', 'away'];
const HOUR_MS = 3_600_000;

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
let minute = 0;

/** The answers of ordinary receivers. Each delivery succeeds within the hour. */
async function answer({ path, eventId, attempt }: Omit<Arrival, 'status'>): Promise<number> {
  if (path === '/slow') await sleep(SLOW_MS);
  if (path === '/away') return minute >= AWAY.from && minute < AWAY.until ? 503 : 200;
  if (path !== '/flaky') return 200;
  const drawn = Number.parseInt(eventId.slice(0, 2), 16) % 8;
  if (drawn === 0 && attempt <= 3) return 500;
  if (drawn === 1 && attempt <= 2) return CONNECTION_ENDED;
  return drawn === 2 && attempt === 1 ? 429 : 200;
}

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent', HOOKRAIL_SOURCE_ADDRESSES: '203.0.113.0/28' });
  receiver = await startLoggingReceiver(setup.receiverCert, answer);
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
}, 60_000);

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  if (setup) rmSync(setup.dataDir, { recursive: true, force: true });
});

const clock = () => ({ service: hookrail, dataDir: setup.dataDir });
const at = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);
const toldAt = (path: string) => at(path).map(({ body }) => JSON.parse(body.toString('utf8')).type);
const restart = async () => {
  await hookrail.stop();
  hookrail = await startHookrail(setup.environment);
};
const publish = async (events: readonly unknown[]) =>
  expect((await merchant.publish(events)).status).toBe(202);

/** The changes of a merchant that are no cause, by the minute. */
function usualChanges(
  resources: readonly string[],
  startedAt: number,
): Readonly<Record<number, () => Promise<void>>> {
  const [quick = '', slow = ''] = resources;
  const ask = async (method: string, path: string, body?: object) => {
    const { status, body: answered } = await merchant.request(method, path, body);
    expect(status, `${method} ${path}: ${JSON.stringify(answered)}`).toBeLessThan(300);
    return answered;
  };
  return {
    5: () => ask('PATCH', quick, { description: 'renamed' }),
    8: () => ask('POST', `${quick}/check`),
    12: async () => {
      const { uuid } = await merchant.createEndpoint(`${receiver.url}/short-lived`);
      await ask('DELETE', `/merchant/webhook-endpoints/${uuid}`);
    },
    25: () => ask('PATCH', slow, { status: 'disabled' }),
    28: () => ask('PATCH', slow, { status: 'active' }),
    40: () => ask('POST', `${slow}/replay`, { since: new Date(startedAt).toISOString(), only: 'missing' }),
    45: async () => {
      const [delivery] = (await ask('GET', `${quick}/deliveries`)).data;
      await ask('POST', `${quick}/deliveries/${delivery.delivery_uuid}/resend`);
    },
  };
}

it('an hour of ordinary traffic sends no notice, and each cause after it sends one', async () => {
  const endpoints = [];
  for (const kind of KINDS) endpoints.push(await merchant.createEndpoint(`${receiver.url}/${kind}`));
  await merchant.createEndpoint(`${receiver.url}/ops`, { kind: 'operational' });
  const resources = endpoints.map(({ uuid }) => `/merchant/webhook-endpoints/${uuid}`);
  const startedAt = await clockOf(clock());
  const changes = usualChanges(resources, startedAt);
  for (minute = 1; minute <= MINUTES; minute += 1) {
    const events = Array.from({ length: EVENTS_A_MINUTE }, (_, n) =>
      jsonEventOf(setup.merchantId, `${minute}/${n}`),
    );
    await publish(events);
    // A producer that repeats what it has sent.
    if (minute % 10 === 0) await publish(events);
    await changes[minute]?.();
    if (RESTARTS.includes(minute)) await restart();
    await moveClock(clock(), startedAt + minute * MINUTE_MS);
  }
  // Gathered notices would have been sent by then.
  await moveClock(clock(), startedAt + 2 * HOUR_MS);
  await restart();
  await sleep(NOTHING_COMES_MS);
  expect(toldAt('/ops')).toEqual([]);
  for (const kind of KINDS) {
    const good = at(`/${kind}`).filter(({ status }) => status === 200);
    expect(new Set(good.map(({ eventId }) => eventId)).size, kind).toBeGreaterThan(
      MINUTES * (EVENTS_A_MINUTE - 1),
    );
  }
  for (const kind of ['flaky', 'away'])
    expect(at(`/${kind}`).some(({ status }) => status !== 200)).toBe(true);

  expect((await merchant.request('PATCH', `${resources[0]}/secret`)).status).toBe(200);
  await publish([jsonEventOf(setup.merchantId, '1/0', { occurredAt: startedAt })]);
  await moveClock(clock(), startedAt + 2.1 * HOUR_MS);
  // A new process looks at the quarantine at once.
  await restart();
  await eventually('the secret is told', () => toldAt('/ops').includes('secret.rotated'));
  await sleep(NOTHING_COMES_MS);
  await moveClock(clock(), startedAt + 3 * HOUR_MS);
  await eventually('the quarantine is told', () => toldAt('/ops').includes('events.quarantined'));
  expect(toldAt('/ops').sort()).toEqual(['events.quarantined', 'secret.rotated']);
}, 240_000);
