/**
 * Guarantee: no response stops or slows the service, whatever it holds. Receivers answer with the bodies and headers that
 * are the most costly to search for a secret; the service answers its probes meanwhile, delivers to others, is ended by
 * kill −9 while it reads such an answer, starts again and loses nothing. LONG_RUN=1: 100 endpoints, 5 events a second
 * for 60 s, ten kills; it prints the latencies.
 */
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { IS_LONG_RUN } from '../support/long-runs.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { probe } from '../support/service/prober.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const ENDPOINTS = IS_LONG_RUN ? 98 : 20;
const SECONDS = IS_LONG_RUN ? 60 : 4;
const EVENTS_PER_SECOND = IS_LONG_RUN ? 5 : 2;
const KILLS = IS_LONG_RUN ? 10 : 2;
/** The service must not stand still for longer; in the short form with room for a busy machine. */
const STANDSTILL_MS = IS_LONG_RUN ? 500 : 5000;

const BODY_BYTES = 17_408;
const FILLERS = [
  '\\',
  '%25',
  '3',
  'V',
  '&amp;',
  '=\r\n',
  '0x5c,',
  '&#x5c;',
  '\\\\u005c',
  '92,',
  'H4sI',
  '\0\\',
];
const BODIES = FILLERS.map((filler) => Buffer.from(filler.repeat(BODY_BYTES).slice(0, BODY_BYTES)));
/** Many kinds of backslashes, as the secret that a merchant chose; the last characters keep it from being found. */
const CHOSEN_SECRET = '\\q\\w\\e\\r\\t\\y\\u\\i\\o\\pZ';
/** Secrets of which an expression would take for ever on a short body of backslashes. */
const FREEZING_SECRETS = [
  '\\a\\b\\c\\d\\e\\f\\g\\hZ',
  '\\q\\+w\\-e\\=r\\*t\\/y\\_uZ',
  `whsec_${Buffer.from('\\k\\m\\w\\x\\4\\9\\Q\\R\\S\\t\\uv1Z').toString('base64')}`,
];
const SHORT_BODY = '\\'.repeat(60);

let setup: ServiceSetup;
let service: Service;
let merchant: MerchantClient;
let costly: Server;
let quiet: LoggingReceiver;
let answered = 0;
let isCostly = true;
let seeds = 0;

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '1000' });
  costly = createServer(
    { cert: setup.receiverCert.certPem, key: setup.receiverCert.keyPem },
    (request, response) => {
      request.resume().on('end', () => {
        answered += 1;
        if (!isCostly) return void response.end('ok');
        if (request.url === '/short') return void response.end(SHORT_BODY);
        const body = BODIES[Number(request.url?.slice(1)) % BODIES.length] as Buffer;
        response.writeHead(200, { 'X-Filler': '\\'.repeat(7000) }).end(body);
      });
    },
  );
  await new Promise<void>((resolve) => costly.listen(0, '127.0.0.1', resolve));
  quiet = await startLoggingReceiver(setup.receiverCert, () => 200);
  service = await startService(setup.environment);
  merchant = new MerchantClient(setup, () => service);
  const url = `https://localhost:${(costly.address() as AddressInfo).port}`;
  for (let i = 0; i < ENDPOINTS; i += 1)
    await merchant.createEndpoint(`${url}/${i}`, { subscribed_events: ['fiatToCrypto'] });
  const single = { webhook_url: `${url}/240`, webhook_secret: CHOSEN_SECRET };
  expect((await merchant.request('PATCH', '/merchant', single)).status).toBe(200);
  await merchant.createEndpoint(quiet.url, { subscribed_events: ['KYC'] });
}, 60_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  costly?.closeAllConnections();
  costly?.close();
  await quiet?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const eventOf = (type: 'fiatToCrypto' | 'KYC') =>
  jsonEventOf(setup.merchantId, `costly ${seeds++}`, {
    type,
    subType: type === 'KYC' ? 'KYC_PENDING' : 'PENDING',
  });

/** Publishes events for a while, one for the quiet receiver with each; returns how long those took to arrive. */
async function publish(ms: number, withCostly: boolean): Promise<number[]> {
  const postedAt = new Map<string, number>();
  for (const end = Date.now() + ms; Date.now() < end; await sleep(1000 / EVENTS_PER_SECOND)) {
    const event = eventOf('KYC');
    postedAt.set(event.header.eventId, Date.now());
    await merchant.publish(withCostly ? [event, eventOf('fiatToCrypto')] : [event]);
  }
  const arrived = () => quiet.arrivals.filter(({ eventId }) => postedAt.has(eventId));
  await eventually('the quiet receiver has all of its events', () => arrived().length >= postedAt.size);
  return arrived()
    .map(({ eventId, at }) => at - (postedAt.get(eventId) ?? 0))
    .sort((one, other) => one - other);
}

const p99 = (sorted: readonly number[]) => Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);

it('probes are answered and others delivered to while the costliest responses come in', async () => {
  const livez = `${service.operationsUrl}/livez`;
  const [quietProbes, quietAlone] = await Promise.all([
    probe(livez, SECONDS * 250),
    publish(SECONDS * 250, false),
  ]);
  isCostly = false;
  const [ordinaryProbes, ordinaryOthers] = await Promise.all([
    probe(livez, SECONDS * 250),
    publish(SECONDS * 250, true),
  ]);
  isCostly = true;
  const before = answered;
  const [probes, others] = await Promise.all([probe(livez, SECONDS * 1000), publish(SECONDS * 1000, true)]);
  expect(answered - before).toBeGreaterThan(ENDPOINTS);
  const row = (name: string, ms: readonly number[]) =>
    `${name} p99 ${p99(ms)} ms, max ${Math.round(ms.at(-1) ?? 0)} ms`;
  if (IS_LONG_RUN) {
    process.stdout.write(`${row('quiet: /livez', quietProbes)}; ${row('delivery', quietAlone)}\n`);
    process.stdout.write(
      `as many ordinary answers: ${row('/livez', ordinaryProbes)}; ${row('delivery', ordinaryOthers)}\n`,
    );
    process.stdout.write(
      `costly: ${row('/livez', probes)}; ${row('delivery', others)}; ${answered - before} answers\n`,
    );
  }
  expect(probes.at(-1)).toBeLessThan(STANDSTILL_MS);
}, 200_000);

it('a short body of backslashes stops nothing, whatever the secret, before a kill −9 and after it', async () => {
  const webhook_url = `https://localhost:${(costly.address() as AddressInfo).port}/short`;
  const worst: number[] = [];
  for (const webhook_secret of FREEZING_SECRETS) {
    expect((await merchant.request('PATCH', '/merchant', { webhook_url, webhook_secret })).status).toBe(200);
    for (const isAfterKill of [false, true]) {
      if (isAfterKill) {
        await service.end('SIGKILL');
        service = await startService(setup.environment);
      }
      const before = answered;
      const [probes] = await Promise.all([
        probe(`${service.operationsUrl}/livez`, 1500),
        merchant.publish([eventOf('fiatToCrypto')]),
      ]);
      expect(answered).toBeGreaterThan(before);
      worst.push(Math.round(probes.at(-1) ?? 0));
    }
  }
  if (IS_LONG_RUN) process.stdout.write(`short: /livez at most ${worst.join(', ')} ms\n`);
  expect(Math.max(...worst)).toBeLessThan(STANDSTILL_MS);
}, 120_000);

it('a kill −9 while such a response is read keeps it from nothing', async () => {
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = answered;
    expect((await merchant.publish([eventOf('fiatToCrypto'), eventOf('KYC')])).status).toBe(202);
    await eventually('a costly response is read', () => answered > before);
    await service.end('SIGKILL');
    service = await startService(setup.environment);
  }
  const sent = eventOf('KYC');
  await merchant.publish([sent]);
  await eventually('the last event arrived', () =>
    quiet.arrivals.some(({ eventId }) => eventId === sent.header.eventId),
  );
  await eventually('nothing is open', async () => {
    const { body } = await merchant.request('GET', '/merchant/deliveries?status=pending');
    return body.data?.length === 0;
  });
}, 120_000);
