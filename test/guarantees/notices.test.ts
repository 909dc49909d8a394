/**
 * Guarantee: who asks for operational notices gets one of each cause, signed, with its attempts in the delivery log. The
 * whole service runs, with real files and real HTTPS; the sandbox's clock is moved through the days of the rule that
 * disables an endpoint.
 */
import { createHmac } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { createAuthority, issueCertificate } from '../../simulator/receiver/certificate-authority.ts';
import { eventually } from '../support/eventually.ts';
import {
  type Arrival,
  type LoggingReceiver,
  startLoggingReceiver,
} from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { moveClock } from '../support/service/move-clock.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The interval of the looks at the quarantine, and time to be sent. */
const LOOK_MS = 60_000;

let setup: ServiceSetup;
let environment: Record<string, string>;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
/** The answers of the receiver, by path; 200 otherwise. */
const answers = new Map<string, number>();
let startedAt = 0;
let operational: Awaited<ReturnType<MerchantClient['createEndpoint']>>;

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_AUTO_DISABLE_ATTEMPTS: '5', HOOKRAIL_LOG_LEVEL: 'silent' });
  const authority = await createAuthority();
  const caFile = join(setup.dataDir, 'own-ca.crt');
  writeFileSync(caFile, authority.certPem);
  const notAfter = new Date(Date.now() + 20 * DAY_MS);
  const certificate = await issueCertificate(authority, { hosts: ['localhost'], notAfter });
  receiver = await startLoggingReceiver(certificate, ({ path }) => answers.get(path) ?? 200);
  environment = {
    ...setup.environment,
    HOOKRAIL_EXTRA_CA_FILE: caFile,
    HOOKRAIL_SOURCE_ADDRESSES: '203.0.113.0/28',
  };
  hookrail = await startHookrail(environment);
  merchant = new MerchantClient(setup, () => hookrail);
  startedAt = Date.now();
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

/** Without the requests of checks, which have no id. */
const at = (path: string) =>
  receiver.arrivals.filter((arrival) => arrival.path === path && arrival.eventId !== '');
const bodyOf = ({ body }: Arrival) => JSON.parse(body.toString('utf8'));
const typesAt = (path: string) =>
  at(path).map((arrival) => {
    const { type, subType } = bodyOf(arrival);
    return `${type} ${subType}`;
  });
const arrived = (path: string, what: string, withinMs = 20_000) =>
  eventually(`${what} arrives`, () => typesAt(path).includes(what), withinMs);
const publish = async (seed: string) => {
  const event = jsonEventOf(setup.merchantId, seed);
  expect((await merchant.publish([event])).status).toBe(202);
  return event;
};

/** Moves the clock to so many hours after the start, through all that is due before. */
const moveTo = (hours: number) =>
  moveClock({ service: hookrail, dataDir: setup.dataDir }, startedAt + hours * HOUR_MS);

it('tells of an endpoint that fails, is disabled and recovers, once each, and what was missed', async () => {
  operational = await merchant.createEndpoint(`${receiver.url}/ops`, { kind: 'operational' });
  const bad = await merchant.createEndpoint(`${receiver.url}/bad`);
  const controls = { headers: [{ name: 'X-Channel', value: 'of operations' }], requests_per_second: 20 };
  const slack = { kind: 'operational', format: 'slack', ...controls };
  await merchant.createEndpoint(`${receiver.url}/slack`, slack);
  answers.set('/bad', 503);
  await publish('first');
  await moveTo(12.5);
  await publish('second');
  await arrived('/ops', 'endpoint.failing AT_50');
  await moveTo(18.9);
  await arrived('/ops', 'endpoint.failing AT_75');
  await moveTo(21.8);
  await publish('third');
  await arrived('/ops', 'endpoint.failing AT_90');
  await arrived('/ops', 'delivery.exhausted GATHERED');
  await moveTo(24.3);
  await publish('fourth');
  await arrived('/ops', 'endpoint.disabled CONSECUTIVE_FAILURES');
  await publish('fifth');
  const resource = `/merchant/webhook-endpoints/${bad.uuid}`;
  expect((await merchant.request('GET', resource)).body).toMatchObject({
    status: 'auto_disabled',
    kind: 'events',
  });
  answers.set('/bad', 200);
  await hookrail.stop();
  const coming = `198.51.100.0/28 from ${new Date(Date.now() + 300 * DAY_MS).toISOString()}`;
  environment.HOOKRAIL_SOURCE_ADDRESSES += `, ${coming}`;
  hookrail = await startHookrail(environment);
  expect((await merchant.request('PATCH', resource, { status: 'active' })).status).toBe(200);
  await publish('sixth');
  await arrived('/ops', 'endpoint.recovered AFTER_DISABLED');
  await publish('seventh');
  await moveTo(26);
  // Nobody has asked for a check: the daily look has seen the certificates of the others.
  await arrived('/ops', 'certificate.expiring WITHIN_30_DAYS', LOOK_MS);
  const told = typesAt('/ops').filter((what) => what.startsWith('endpoint.'));
  expect(told).toEqual([
    'endpoint.failing AT_50',
    'endpoint.failing AT_75',
    'endpoint.failing AT_90',
    'endpoint.disabled CONSECUTIVE_FAILURES',
    'endpoint.recovered AFTER_DISABLED',
  ]);
  expect(at('/ops').every(({ body }) => !body.toString('utf8').includes('first'))).toBe(true);
  const recovered = at('/ops')
    .map(bodyOf)
    .find(({ type }) => type === 'endpoint.recovered');
  expect(recovered.uuid).toBe(bad.uuid);
  expect(recovered.data.missedEvents).toBeGreaterThanOrEqual(2);
  // The request that the notice names brings them back.
  const [, path = '', body = ''] = /POST (\S+) with (\{.*\})/.exec(recovered.data.whatToDo) ?? [];
  const replay = await merchant.request('POST', path, JSON.parse(body));
  expect(replay.status).toBe(202);
  expect(replay.body.count).toBe(recovered.data.missedEvents);
}, 120_000);

it('sends each as its endpoint wants it, signed and with its headers, and keeps it in the delivery log', async () => {
  expect(at('/slack').length).toBeGreaterThanOrEqual(6);
  for (const arrival of at('/slack'))
    expect({ ...bodyOf(arrival), channel: arrival.headers['x-channel'] }).toMatchObject({
      ...{ text: expect.any(String), blocks: expect.any(Array), channel: 'of operations' },
    });
  const [one] = at('/ops') as [Arrival];
  expect(one.headers['webhook-signature']?.split(' ')).toContain(
    signatureOf(one, operational.signing_secret),
  );
  const sent = await merchant.request(
    'GET',
    `/merchant/webhook-endpoints/${operational.uuid}/deliveries/${one.deliveryId}`,
  );
  expect(sent.body).toMatchObject({
    event_uuid: one.eventId,
    status: 'delivered',
    attempts_max: 7,
    trigger: 'live',
  });
  const found = await merchant.request('GET', `/merchant/lookup/${one.eventId}`);
  expect(found.body.found).toMatchObject([{ kind: 'notice', path: expect.stringContaining(one.deliveryId) }]);
});

it('tells of a changed secret, a certificate near its end, a coming address and a quarantined event', async () => {
  await merchant.createEndpoint(`${receiver.url}/ops2`, { kind: 'operational' });
  const { uuid } = await merchant.createEndpoint(`${receiver.url}/good`);
  const resource = `/merchant/webhook-endpoints/${uuid}`;
  expect((await merchant.request('PATCH', `${resource}/secret`)).status).toBe(200);
  for (const _ of [1, 2]) expect((await merchant.request('POST', `${resource}/check`)).status).toBe(200);
  await arrived('/ops2', 'secret.rotated ROTATED');
  await arrived('/ops2', 'certificate.expiring WITHIN_30_DAYS');
  const event = await publish('conflict');
  await eventually('the event is delivered', () =>
    at('/good').some(({ eventId }) => eventId === event.header.eventId),
  );
  const other = jsonEventOf(setup.merchantId, 'conflict', { occurredAt: Date.now() - HOUR_MS });
  expect(other.header.eventId).toBe(event.header.eventId);
  await merchant.publish([other]);
  await moveTo(27);
  await eventually(
    'it was looked at',
    async () => (await hookrail.store.notices.place('events.quarantined')) !== null,
    LOOK_MS,
  );
  await moveTo(28);
  await arrived('/ops2', 'events.quarantined GATHERED');
  expect(typesAt('/ops').filter((what) => what.startsWith('source_addresses'))).toEqual([
    'source_addresses.changing COMES',
  ]);
  expect(typesAt('/ops2').sort()).toEqual([
    'certificate.expiring WITHIN_30_DAYS',
    'events.quarantined GATHERED',
    'secret.rotated ROTATED',
  ]);
}, 120_000);

it('sends no event to an operational endpoint, and no notice to another', async () => {
  expect(
    typesAt('/ops').every((what) =>
      /^(endpoint|delivery|events|certificate|source_addresses|secret)\./.test(what),
    ),
  ).toBe(true);
  for (const path of ['/good', '/bad']) expect(typesAt(path).some((what) => what.includes('.'))).toBe(false);
  const trace = await merchant.request('GET', `/merchant/events/${at('/good')[0]?.eventId}`);
  const endpoints = (await merchant.request('GET', '/merchant/webhook-endpoints')).body.data;
  const operational = endpoints.filter(({ kind }: { kind: string }) => kind === 'operational');
  for (const { uuid } of operational) expect(JSON.stringify(trace.body)).not.toContain(uuid);
});

function signatureOf(arrival: Arrival, secret: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = `${arrival.eventId}.${arrival.headers['webhook-timestamp']}.${arrival.body.toString('utf8')}`;
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
