/**
 * Guarantee: the single webhook of API 2.2.8 is delivered like every other, beside the managed endpoints: in version
 * 2.2.8, with the secret that its merchant chose, which also signs. The whole service runs, with real files and real
 * HTTPS.
 */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
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

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '100', HOOKRAIL_LOG_LEVEL: 'silent' });
  // The first attempt at each path fails, so that a retry is seen too.
  receiver = await startLoggingReceiver(setup.receiverCert, ({ attempt }) => (attempt === 1 ? 500 : 200));
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const at = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);
const OWN_SECRET = 'a-secret-of-my-own#1';
const LIKE_OURS = `whsec_${createHash('sha256').update('mine').digest('base64')}`;

it('the managed and the single webhook get each event in their own version, signed with their own secret', async () => {
  const managed = await merchant.createEndpoint(`${receiver.url}/managed`);
  const set = await merchant.request('PATCH', '/merchant', {
    webhook_url: `${receiver.url}/single`,
    webhook_secret: OWN_SECRET,
  });
  expect(set.status).toBe(200);
  const event = jsonEventOf(setup.merchantId, 'legacy');
  expect((await merchant.publish([event])).status).toBe(202);
  await eventually(
    'both endpoints have both attempts',
    () => at('/single').length === 2 && at('/managed').length === 2,
  );
  const [single, other] = [at('/single')[1], at('/managed')[1]];
  if (!single || !other) throw new Error('no second attempt');
  expect(single.headers['webhook-api-version']).toBe('2.2.8');
  expect(other.headers['webhook-api-version']).toBe('2.3.8');
  expect(other.authorization).toBe(`API-Key ${managed.signing_secret}`);
  expect(single.authorization).toBe(`API-Key ${OWN_SECRET}`);
  // 2.2.8 does not have these (docs/specification.md, "API versions").
  const data = (arrival: { body: Buffer }) => JSON.parse(arrival.body.toString()).data;
  expect(data(other)).toHaveProperty('senderDetails');
  expect(data(single)).not.toHaveProperty('senderDetails');
  expect(
    new Webhook(OWN_SECRET, { format: 'raw' }).verify(single.body.toString(), single.headers),
  ).toBeTruthy();
  expect(() =>
    new Webhook('a-secret-of-my-own#2', { format: 'raw' }).verify(single.body.toString(), single.headers),
  ).toThrow();
  const log = `/merchant/webhook-endpoints/${set.body.webhook_endpoint.uuid}/deliveries/${single.deliveryId}`;
  const delivery = await eventually('the delivery is in the log', async () => {
    const { body } = await merchant.request('GET', log);
    return body.status === 'delivered' ? body : null;
  });
  expect(delivery).toMatchObject({ attempts_made: 2, api_version: '2.2.8' });
  expect(JSON.stringify(delivery)).not.toContain(OWN_SECRET);
});

it('a type that 2.2.8 does not have goes to the managed endpoint only, and the trace says so', async () => {
  const event = jsonEventOf(setup.merchantId, 'aml', { type: 'AML', subType: 'AML_CHECKS_COMPLETED' });
  const before = at('/single').length;
  expect((await merchant.publish([event])).status).toBe(202);
  const { eventId } = event.header;
  await eventually('the event is delivered', () =>
    at('/managed').some((arrival) => arrival.eventId === eventId),
  );
  const trace = await eventually('the trace is recorded', async () => {
    const { status, body } = await merchant.request('GET', `/merchant/events/${eventId}`);
    return status === 200 && JSON.stringify(body);
  });
  expect(trace).toContain('type_not_in_api_version');
  expect(at('/single')).toHaveLength(before);
});

it('the single webhook’s new secret signs the next request, and after null nothing is sent to it', async () => {
  await merchant.request('PATCH', '/merchant', { webhook_secret: LIKE_OURS });
  const publish = async (seed: string) => {
    const event = jsonEventOf(setup.merchantId, seed);
    expect((await merchant.publish([event])).status).toBe(202);
    return (path: string) => at(path).find(({ eventId }) => eventId === event.header.eventId);
  };
  const rotated = await publish('rotated');
  const arrival = await eventually('the request arrives', () => rotated('/single'));
  expect(arrival.authorization).toBe(`API-Key ${LIKE_OURS}`);
  expect(new Webhook(LIKE_OURS).verify(arrival.body.toString(), arrival.headers)).toBeTruthy();
  expect((await merchant.request('PATCH', '/merchant', { webhook_secret: null })).status).toBe(200);
  const removed = await publish('removed');
  await eventually('the managed endpoint has the event', () => removed('/managed'));
  expect(removed('/single')).toBeUndefined();
});
