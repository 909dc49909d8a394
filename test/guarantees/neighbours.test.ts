/**
 * Guarantee: a burst of events for one endpoint, and many endpoints of one merchant that hang all at once, do not
 * delay the others. LONG_RUN=1: as many endpoints and events as a merchant may have.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EventType } from '../../services/domain/event.ts';
import { eventually } from '../support/eventually.ts';
import { IS_LONG_RUN } from '../support/long-runs.ts';
import { FailingReceiver } from '../support/receivers/failing-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const BURST_EVENTS = IS_LONG_RUN ? 10_000 : 2000;
const EVENTS_PER_POST = 500;
/** Together as many as a merchant may have. */
const HANGING_ENDPOINTS = IS_LONG_RUN ? 75 : 40;
const HANGING_EVENTS = IS_LONG_RUN ? 200 : 50;
const WARMING_EVENTS = 60;
const OTHER_ENDPOINTS = 20;
const OTHER_EVENTS_PER_SECOND = 5;
const WATCHED_MS = IS_LONG_RUN ? 30_000 : 10_000;
const BURST_ANSWER_MS = IS_LONG_RUN ? [0, 50, 95, 150] : [0, 95];
/** No delivery of another endpoint is late by as much; in the short form with room for a busy machine. */
const STALL_MS = IS_LONG_RUN ? 1000 : 5000;
const IN_FORCE_MS = 1500;

let setup: ServiceSetup;
let service: Service;
let merchant: MerchantClient;
let others: FailingReceiver;
let seeds = 0;

const eventsOf = (type: EventType, subType: string, count: number) =>
  Array.from({ length: count }, () =>
    jsonEventOf(setup.merchantId, `neighbours ${seeds++}`, { type, subType }),
  );

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '1' });
  service = await startService(setup.environment);
  merchant = new MerchantClient(setup, () => service);
  others = await new FailingReceiver(setup.receiverCert).start();
  for (let i = 0; i < OTHER_ENDPOINTS; i += 1)
    await merchant.createEndpoint(`${others.url}/${i}`, { subscribed_events: ['KYC'] });
});

afterAll(async () => {
  await service?.end('SIGKILL');
  await others?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

/** Posts events for the others for a while; returns how long each delivery took, the shortest first. */
async function watchOthers(ms: number): Promise<number[]> {
  const postedAt = new Map<string, number>();
  const startedAt = Date.now();
  const before = others.delivered.length;
  const posts: Promise<unknown>[] = [];
  for (let count = 0; Date.now() - startedAt < ms; count += 1) {
    const [event] = eventsOf('KYC', 'KYC_PENDING', 1);
    if (!event) break;
    postedAt.set(event.header.eventId, Date.now());
    posts.push(merchant.publish([event]));
    await sleep(Math.max(0, startedAt + ((count + 1) * 1000) / OTHER_EVENTS_PER_SECOND - Date.now()));
  }
  await Promise.all(posts);
  const seen = () => others.delivered.slice(before).filter(({ eventId }) => postedAt.has(eventId));
  const isAll = () => seen().length >= postedAt.size * OTHER_ENDPOINTS;
  await eventually('every webhook for the others has arrived', isAll, 4 * STALL_MS);
  const arrived = seen();
  expect(arrived).toHaveLength(postedAt.size * OTHER_ENDPOINTS);
  return arrived.map(({ eventId, at }) => at - (postedAt.get(eventId) ?? 0)).sort((a, b) => a - b);
}

function report(title: string, delays: readonly number[]): number {
  const at = (share: number) => delays[Math.ceil(delays.length * share) - 1] ?? 0;
  console.log(`${title}: others' p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms of ${delays.length}`);
  return at(1);
}

it('without a burst, the webhooks of all endpoints arrive at once', async () => {
  await sleep(IN_FORCE_MS);
  expect(report('calm', await watchOthers(WATCHED_MS / 2))).toBeLessThan(STALL_MS);
});

it.each(BURST_ANSWER_MS)(
  'a burst to one endpoint that answers after %d ms does not delay the others',
  { timeout: 90_000 },
  async (answerMs) => {
    const receiver = await new FailingReceiver(setup.receiverCert, answerMs).start();
    const endpoint = await merchant.createEndpoint(receiver.url, { subscribed_events: ['KYB'] });
    try {
      await sleep(IN_FORCE_MS);
      const watched = watchOthers(WATCHED_MS);
      await sleep(1000);
      for (let posted = 0; posted < BURST_EVENTS; posted += EVENTS_PER_POST)
        await merchant.publish(eventsOf('KYB', 'ACTIVE', EVENTS_PER_POST));
      const delays = await watched;
      const slowest = report(`${BURST_EVENTS} events to one that answers after ${answerMs} ms`, delays);
      expect(slowest).toBeLessThan(STALL_MS);
    } finally {
      await merchant.request('DELETE', `/merchant/webhook-endpoints/${endpoint.uuid}`);
      await receiver.close();
    }
  },
);

it('many endpoints that hang all at once do not delay the others', { timeout: 120_000 }, async () => {
  const receiver = await new FailingReceiver(setup.receiverCert, 80).start();
  try {
    for (let i = 0; i < HANGING_ENDPOINTS; i += 1)
      await merchant.createEndpoint(`${receiver.url}/${i}`, { subscribed_events: ['AML'] });
    await sleep(IN_FORCE_MS);
    for (const event of eventsOf('AML', 'AML_CHECKS_COMPLETED', WARMING_EVENTS)) {
      await merchant.publish([event]);
      await sleep(50);
    }
    const watched = watchOthers(WATCHED_MS);
    await sleep(1000);
    await receiver.fail('hang');
    await merchant.publish(eventsOf('AML', 'AML_CHECKS_COMPLETED', HANGING_EVENTS));
    const delays = await watched;
    const slowest = report(`${HANGING_ENDPOINTS} endpoints hang with ${HANGING_EVENTS} events`, delays);
    expect(slowest).toBeLessThan(STALL_MS);
  } finally {
    await receiver.close();
  }
});
