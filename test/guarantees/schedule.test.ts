/**
 * Guarantee: attempt n+1 starts n⁶ + 2 seconds after attempt n ended: 3, 66, 731, 4098, 15627, 46658 s; never early,
 * and not a second late; never an eighth attempt. The real router, sender and recorder run on real SQLite files,
 * unscaled, on a simulated clock; only the network and the time are not real.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Broker } from '../../services/broker/broker.ts';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import type { Exchange } from '../../services/domain/attempt.ts';
import { Directory } from '../../services/domain/directory.ts';
import { deliveryId, uuidV5 } from '../../services/domain/ids.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { Lifecycle } from '../../services/process/lifecycle.ts';
import { startRecorder } from '../../services/recorder/recorder.ts';
import { startRouter } from '../../services/router/router.ts';
import type { Transport } from '../../services/sender/http/transport.ts';
import { startSender } from '../../services/sender/sender.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../services/store/store.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import { eventually } from '../support/eventually.ts';
import { eventOf } from '../support/records/events.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

/** Seconds; the table of docs/specification.md, "Delivery and retry". */
const SPECIFIED = [3, 66, 731, 4098, 15627, 46658];
/** Every attempt takes this long, so that "from the end of the attempt" differs from "from its start". */
const ATTEMPT_MS = 1750;
const MERCHANT = uuidV5('schedule-merchant');
const ENDPOINT = uuidV5('schedule-endpoint');

const answered = (status: number): Exchange => {
  const response = { status, headers: [], body: new Uint8Array(), bodyTruncated: false };
  if (status < 300) return { kind: 'acknowledged', response, fault: null };
  return { kind: 'failed', failureCode: 'http_5xx', detail: `answered ${status}`, response };
};

let dataDir: string;
let clock: SimulatedClock;
let lifecycle: Lifecycle;
let broker: Broker;
let store: Store;
/** When each attempt started and ended, milliseconds. */
let attempts: { startedAt: number; endedAt: number }[];
let statuses: number[];

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'hookrail-schedule-'));
  clock = new SimulatedClock();
  lifecycle = new Lifecycle();
  attempts = [];
  const keyRingFile = join(dataDir, 'keyring.json');
  KeyRing.create(keyRingFile);
  const keyRing = KeyRing.read(keyRingFile);
  broker = await openSqliteBroker({ file: join(dataDir, 'broker.db'), clock, retryScale: 1 });
  lifecycle.onStop('broker', () => broker.close());
  const healthPolicy = { withoutSuccessMs: 72 * 3_600_000, failedAttempts: 100 };
  store = await openSqliteStore({ file: join(dataDir, 'store.db'), clock, healthPolicy });
  lifecycle.onStop('store', () => store.close());
  await publishDirectory(keyRing);
  const directory = new Directory();
  await broker.followDirectory((change) => directory.apply(change));
  const deps = {
    broker,
    store,
    directory,
    clock,
    keyRing,
    environment: 'sandbox',
    log: createLogger('silent'),
    registry: new Registry(),
  };
  const recorder = await startRecorder(deps);
  lifecycle.onStop('recorder', () => recorder.stop(5000));
  const sender = await startSender({
    ...deps,
    transport: scriptedTransport(),
    ready: () => true,
    retryScale: 1,
    options: { inFlightMax: 100 },
  });
  lifecycle.onStop('sender', () => sender.stop(5000));
  const router = await startRouter({ ...deps, acceptsSimulated: true });
  lifecycle.onStop('router', () => router.stop(5000));
});

afterEach(async () => {
  await lifecycle.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function publishDirectory(keyRing: KeyRing): Promise<void> {
  const merchant = {
    merchantId: MERCHANT,
    name: 'm',
    state: 'active',
    senderAccountDetails: false,
    version: 1,
  } as const;
  const endpoint = {
    uuid: ENDPOINT,
    merchantId: MERCHANT,
    url: 'https://hooks.merchant.com/schedule',
    subscribedEvents: null,
    status: 'active',
    apiVersion: '2.3.8',
    secret: keyRing.seal(`whsec_${Buffer.alloc(32).toString('base64')}`, ENDPOINT),
    publicKeySignature: false,
    legacy: false,
    version: 1,
  } as const;
  await broker.publishDirectory([
    { kind: 'merchant', id: MERCHANT, version: 1, value: merchant },
    { kind: 'endpoint', id: ENDPOINT, version: 1, value: endpoint },
  ]);
}

/** Answers the next of `statuses`, ATTEMPT_MS of simulated time after the call. */
function scriptedTransport(): Transport {
  const post: Transport['post'] = (_request, _pace, done) => {
    const attempt = { startedAt: clock.now(), endedAt: Number.NaN };
    const status = statuses[attempts.length] ?? 500;
    attempts.push(attempt);
    clock.at(clock.now() + ATTEMPT_MS, () => {
      attempt.endedAt = clock.now();
      const facts = { retryAfterSeconds: null, blockedBy: null, sign: 'reached', ownFault: null } as const;
      const times = { endedAt: clock.now(), receiverMs: ATTEMPT_MS };
      done({ exchange: answered(status), ...times, ...facts });
    });
  };
  return { post, connectionsOpened: 0, interrupt: () => {}, close: async () => {} };
}

/** Publishes an event and plays time until its delivery is over. Answers the delivery as the log has it. */
async function play(answers: number[]) {
  statuses = answers;
  const event = eventOf(MERCHANT, 'schedule');
  await broker.publishEvents([event]);
  const id = deliveryId(event.eventId, ENDPOINT);
  for (let attempt = 1; attempt <= answers.length; attempt += 1) {
    await eventually(`attempt ${attempt} starts`, () => attempts.length === attempt);
    clock.advance(ATTEMPT_MS);
    const delivery = await eventually(`attempt ${attempt} is recorded`, async () => {
      // The commit of its end, and the transaction of its entry, wait for this clock. The next attempt is due seconds later.
      clock.advance(1);
      const found = await store.log.delivery(MERCHANT, ENDPOINT, id);
      return found?.attemptsMade === attempt ? found : null;
    });
    if (delivery.nextAttemptAt === null) break;
    clock.advance(delivery.nextAttemptAt - 1 - clock.now());
    // What is durable after this was handed over before it, if it was going to be: nothing may have started.
    await broker.publishDirectory([]);
    expect(attempts, `one millisecond before attempt ${attempt + 1} is due`).toHaveLength(attempt);
    clock.advance(1);
  }
  return eventually('the delivery is recorded', () => store.log.delivery(MERCHANT, ENDPOINT, id));
}

const gapsInSeconds = () =>
  attempts
    .slice(1)
    .map(({ startedAt }, index) => (startedAt - (attempts[index]?.endedAt ?? Number.NaN)) / 1000);

it('a delivery with six answers 500 and then 200 has seven attempts at the specified gaps, and is delivered', {
  timeout: 60_000,
}, async () => {
  const delivery = await play([500, 500, 500, 500, 500, 500, 200]);
  expect(delivery.status).toBe('delivered');
  expect(delivery.attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const late = gapsInSeconds().map((gap, index) => gap - (SPECIFIED[index] ?? Number.NaN));
  expect(Math.min(...late), 'never early').toBeGreaterThanOrEqual(0);
  expect(Math.max(...late), 'not a second late').toBeLessThan(1);
  expect((await broker.deadLetters.list({ limit: 10 })).length).toBe(0);
});

it('a delivery with seven answers 500 leaves one dead letter and never another attempt', {
  timeout: 60_000,
}, async () => {
  const delivery = await play(Array(7).fill(500));
  expect(delivery).toMatchObject({ status: 'exhausted', attemptsMade: 7, nextAttemptAt: null });
  const letters = await broker.deadLetters.list({ limit: 10 });
  expect(letters.map(({ record }) => [record.reason, record.task.attempt])).toEqual([['exhausted', 7]]);
  clock.advance(365 * 86_400_000);
  await broker.publishDirectory([]);
  expect(attempts).toHaveLength(7);
  expect(broker.status().backlog).toMatchObject({ tasks: 0, delayed: 0 });
});
