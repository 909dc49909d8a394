/**
 * Guarantee: an attempt is made under the endpoint as it is when it starts. Retries that wait follow a rotated secret
 * and a changed URL, and are cancelled, with the reason, when their endpoint is disabled or deleted. The whole service
 * runs, with real files and real HTTPS.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
/** What the receiver answers, by path. */
const answers = new Map<string, number>();

beforeAll(async () => {
  // Retries after 30 ms, 0.66 s, 7.3 s: the second wait is long enough to change things in.
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '100', HOOKRAIL_LOG_LEVEL: 'silent' });
  receiver = await startLoggingReceiver(setup.receiverCert, ({ path }) => answers.get(path) ?? 500);
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const at = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);

/** Creates an endpoint that fails, publishes one event for it, waits for the second attempt. */
async function waitingRetry(name: string) {
  const path = `/${name}`;
  const endpoint = await merchant.createEndpoint(receiver.url + path);
  const event = jsonEventOf(setup.merchantId, name);
  expect((await merchant.publish([event])).status).toBe(202);
  await eventually('two attempts have arrived', () => at(path).length >= 2);
  const deliveries = `/merchant/webhook-endpoints/${endpoint.uuid}/deliveries`;
  const delivery = async () => (await merchant.request('GET', deliveries)).body.data[0];
  return { path, endpoint, delivery, resource: `/merchant/webhook-endpoints/${endpoint.uuid}` };
}

it('a rotated secret is in the next attempt, and the old one in none after the answer', async () => {
  const { path, endpoint, resource } = await waitingRetry('rotate');
  expect(at(path).map((arrival) => arrival.authorization)).toEqual(
    Array(2).fill(`API-Key ${endpoint.signing_secret}`),
  );
  const rotated = await merchant.request('PATCH', `${resource}/secret`);
  expect(rotated.status).toBe(200);
  expect(rotated.body.signing_secret).not.toBe(endpoint.signing_secret);
  answers.set(path, 200);
  const third = await eventually('the third attempt arrives', () => at(path)[2]);
  expect(third).toMatchObject({ attempt: 3, authorization: `API-Key ${rotated.body.signing_secret}` });
  expect(third.body.equals(at(path)[0]?.body ?? Buffer.alloc(0))).toBe(true);
});

it('a changed URL gets the next attempt', async () => {
  const { path, resource } = await waitingRetry('moved');
  answers.set('/moved-here', 200);
  const answer = await merchant.request('PATCH', resource, { url: `${receiver.url}/moved-here` });
  expect(answer.status).toBe(200);
  const arrival = await eventually('an attempt at the new URL arrives', () => at('/moved-here')[0]);
  expect(arrival.attempt).toBe(3);
  expect(at(path)).toHaveLength(2);
});

it('a disabled endpoint’s retries are cancelled with the reason when they are due', async () => {
  const { path, resource, delivery } = await waitingRetry('disabled');
  expect((await merchant.request('PATCH', resource, { status: 'disabled' })).status).toBe(200);
  const cancelled = await eventually('the delivery is cancelled', async () => {
    const record = await delivery();
    return record?.status === 'cancelled' ? record : null;
  });
  expect(JSON.stringify(cancelled)).toContain('endpoint_disabled');
  expect(at(path)).toHaveLength(2);
});

it('a deleted endpoint gets no further attempt', async () => {
  const { path, resource } = await waitingRetry('deleted');
  expect((await merchant.request('DELETE', resource)).status).toBe(204);
  const other = await waitingRetry('after-deleted');
  answers.set(other.path, 200);
  await eventually('a later delivery’s third attempt arrives', () => at(other.path).length === 3);
  expect(at(path)).toHaveLength(2);
});
