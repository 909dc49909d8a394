/**
 * Guarantee: a receiver that answers 2xx at once gets its events as soon as any other, whatever follows its status line:
 * each at the first attempt, none of them parked. LONG_RUN=1: 200 deliveries a second for 30 s; it prints the latencies.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { IS_LONG_RUN } from '../support/long-runs.ts';
import { type RawReceiver, startRawReceiver } from '../support/receivers/misbehaving-receivers.ts';
import { headerOf } from '../support/receivers/signed-webhook.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const SECONDS = IS_LONG_RUN ? 30 : 3;
const EVENTS_PER_SECOND = IS_LONG_RUN ? 20 : 5;

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
/** By the path of the endpoint. The connection stays open after each. */
const RESPONSES: Readonly<Record<string, string>> = {
  ordinary: OK,
  'unasked-continue': `HTTP/1.1 100 Continue\r\n\r\n${OK}`,
  'length-twice': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
  'identity-and-length': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok',
  'many-cookies': `HTTP/1.1 200 OK\r\n${`Set-Cookie: a=${'x'.repeat(480)}\r\n`.repeat(40)}Content-Length: 0\r\n\r\n`,
  'space-before-colon': 'HTTP/1.1 200 OK\r\nX-A : b\r\nContent-Length: 0\r\n\r\n',
  'chunked-without-end': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n',
  'length-unknown': 'HTTP/1.1 200 OK\r\n\r\nok',
  'event-stream': 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ok\n\n',
  'half-a-head': 'HTTP/1.1 202 Accepted\r\nX-A: b\r\n',
};

interface Seen {
  readonly kind: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly at: number;
}

const seen: Seen[] = [];
let setup: ServiceSetup;
let service: Service;
let merchant: MerchantClient;
let receiver: RawReceiver;

beforeAll(async () => {
  setup = await prepareSetup({});
  receiver = await startRawReceiver(setup.receiverCert, (socket, path, request = '') => {
    const kind = path.slice(1);
    const attempt = Number(headerOf(request, 'webhook-attempt'));
    seen.push({ kind, eventId: headerOf(request, 'webhook-id'), attempt, at: Date.now() });
    socket.write(RESPONSES[kind] ?? OK);
  });
  service = await startService(setup.environment);
  merchant = new MerchantClient(setup, () => service);
  for (const kind of Object.keys(RESPONSES))
    await merchant.createEndpoint(`https://localhost:${receiver.port}/${kind}`);
}, 60_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

it('every event arrives once, at the first attempt, and is delivered', { timeout: 120_000 }, async () => {
  const postedAt = new Map<string, number>();
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end; await sleep(1000 / EVENTS_PER_SECOND)) {
    const event = jsonEventOf(setup.merchantId, `odd ${postedAt.size}`, {
      type: 'KYC',
      subType: 'KYC_PENDING',
    });
    postedAt.set(event.header.eventId, Date.now());
    expect((await merchant.publish([event])).status).toBe(202);
  }
  const kinds = Object.keys(RESPONSES);
  await eventually('all events have arrived', () => seen.length >= postedAt.size * kinds.length);
  await eventually('no delivery is open', async () => {
    const { body } = await merchant.request('GET', '/merchant/deliveries?status=pending');
    return body.data?.length === 0;
  });
  expect(seen).toHaveLength(postedAt.size * kinds.length);
  expect(seen.filter(({ attempt }) => attempt !== 1)).toEqual([]);
  const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  expect(metrics.match(/^hookrail_parked_total.* [1-9].*$/gm)).toBeNull();
  if (!IS_LONG_RUN) return;
  for (const kind of kinds) {
    const waits = seen
      .filter((one) => one.kind === kind)
      .map(({ eventId, at }) => at - (postedAt.get(eventId) ?? 0));
    waits.sort((one, other) => one - other);
    const at = (share: number) => waits[Math.floor(waits.length * share)];
    process.stdout.write(`${kind}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${waits.at(-1)} ms\n`);
  }
});
