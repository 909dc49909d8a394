/**
 * Guarantee: nothing acknowledged is lost, whatever instant the process is killed at, and duplicates come only from
 * crashes. The service runs as a process of its own and is killed with SIGKILL again and again while requests are in
 * flight; receivers answer 200 or 500 at random. Judged by the receivers' own log and the dead letters:
 * every acknowledged event ends in a 2xx or in one dead letter after exactly the attempts 1 to 7.
 * The long form: `npm run kill-loop`.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { deliveryId } from '../../services/domain/ids.ts';
import type { DeadLetter } from '../../services/domain/journal.ts';
import { systemClock } from '../../services/process/clock.ts';
import { eventually } from '../support/eventually.ts';
import { seedOf, sizeOf } from '../support/long-runs.ts';
import {
  type Arrival,
  type LoggingReceiver,
  startLoggingReceiver,
} from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const KILLS = sizeOf('KILL_LOOP_KILLS');
const EVENTS = sizeOf('KILL_LOOP_EVENTS');
const SEED = seedOf('KILL_LOOP_SEED');
const RETRY_SCALE = 10_000;
const BATCH = 20;
/** An answer this young may not be durable when the kill comes: its request may be repeated. */
const COMMIT_MS_MAX = 500;

/** A small seeded generator (mulberry32): a run that fails prints its seed and can be repeated. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = seeded(SEED);
let setup: ServiceSetup;
let receiver: LoggingReceiver;
let service: Service;
let merchant: MerchantClient;

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: String(RETRY_SCALE), HOOKRAIL_LOG_LEVEL: 'info' });
  receiver = await startLoggingReceiver(setup.receiverCert, async () => {
    // An answer takes a moment, so that a kill finds requests in flight.
    await new Promise((resolve) => setTimeout(resolve, 2 + random() * 20));
    return random() < 0.5 ? 200 : 500;
  });
  service = await startService(setup.environment);
  merchant = new MerchantClient(setup, () => service);
});

afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
});

/** Posts a batch until it is acknowledged: a producer that keeps trying, as at-least-once asks of it. */
async function publishUntilAcknowledged(events: readonly unknown[]): Promise<void> {
  await eventually(
    'the batch is acknowledged',
    async () => (await merchant.publish(events).catch(() => null))?.status === 202,
    60_000,
  );
}

it(`the service loses nothing over ${KILLS} kills and ${EVENTS} events (seed ${SEED})`, {
  timeout: 600_000,
}, async () => {
  const endpoints = await Promise.all(
    ['a', 'b'].map((name) => merchant.createEndpoint(`${receiver.url}/${name}`)),
  );
  const events = Array.from({ length: EVENTS }, (_, index) =>
    jsonEventOf(setup.merchantId, `${SEED}-${index}`),
  );
  const owed = events.flatMap((event) => endpoints.map(({ uuid }) => deliveryId(event.header.eventId, uuid)));

  let published = 0;
  const publishing = (async () => {
    for (; published < EVENTS; published += BATCH) {
      await publishUntilAcknowledged(events.slice(published, published + BATCH));
    }
  })();
  let inFlightAtKills = 0;
  let notYetDurable = 0;
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const enough = Math.min(EVENTS, (EVENTS * kill) / (KILLS + 1));
    await eventually(
      'enough events are published and requests in flight',
      () => published >= enough && receiver.inFlight() > 0,
      60_000,
    );
    inFlightAtKills += receiver.inFlight();
    await service.end('SIGKILL');
    notYetDurable += receiver.arrivals.filter((arrival) => arrival.at > Date.now() - COMMIT_MS_MAX).length;
    service = await startService(setup.environment);
  }
  await publishing;

  const delivered = new Set<string>();
  let counted = 0;
  const settled = () => {
    for (; counted < receiver.arrivals.length; counted += 1) {
      const arrival = receiver.arrivals[counted];
      if (arrival?.status === 200) delivered.add(arrival.deliveryId);
      if (arrival?.attempt === 7) delivered.add(arrival.deliveryId);
    }
    return owed.every((id) => delivered.has(id));
  };
  await eventually('every delivery has ended', settled, 120_000).catch(async (error: unknown) => {
    const left = owed.filter((id) => !delivered.has(id));
    throw new Error(
      `${error}; ${left.length} have not, among them\n${await stories(left.slice(0, 5), endpoints)}`,
    );
  });
  expect(await service.end('SIGTERM')).toBe(0);

  report(owed, await deadLetters(), inFlightAtKills, notYetDurable);
});

/** What the receivers and the delivery log know of deliveries, to find out why they have not ended. */
async function stories(
  ids: readonly string[],
  endpoints: readonly { readonly uuid: string }[],
): Promise<string> {
  const lines: string[] = [];
  for (const id of ids) {
    const seen = receiver.arrivals.filter((arrival) => arrival.deliveryId === id);
    lines.push(
      `${id} at the receivers: ${seen.map(({ attempt, status }) => `${attempt}→${status}`).join(' ')}`,
    );
    for (const { uuid } of endpoints) {
      const answer = await merchant.request('GET', `/merchant/webhook-endpoints/${uuid}/deliveries/${id}`);
      if (answer.status === 200) lines.push(`in the delivery log: ${JSON.stringify(answer.body)}`);
    }
    lines.push(...service.output.filter((line) => line.includes(id)));
  }
  return lines.join('\n');
}

async function deadLetters(): Promise<DeadLetter[]> {
  const file = join(setup.dataDir, 'broker.db');
  const broker = await openSqliteBroker({ file, clock: systemClock(), retryScale: RETRY_SCALE });
  const letters = await broker.deadLetters.list({ limit: 100_000 });
  await broker.close();
  return letters.map((letter) => letter.record);
}

/** Judges each owed delivery by the receivers' log and the dead letters, and prints the counts. */
function report(
  owed: readonly string[],
  letters: readonly DeadLetter[],
  inFlightAtKills: number,
  notYetDurable: number,
): void {
  const arrivals = new Map<string, Arrival[]>();
  for (const arrival of receiver.arrivals) {
    arrivals.set(arrival.deliveryId, [...(arrivals.get(arrival.deliveryId) ?? []), arrival]);
  }
  const deadIds = letters.map((letter) => letter.task.deliveryId);
  let duplicates = 0;
  for (const id of owed) {
    const log = arrivals.get(id) ?? [];
    const numbers = [...new Set(log.map((arrival) => arrival.attempt))].sort();
    duplicates += log.length - numbers.length;
    const acknowledged = log.some((arrival) => arrival.status === 200);
    if (acknowledged) continue;
    expect(numbers, `attempts of ${id}, which never got a 2xx`).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(
      deadIds.filter((dead) => dead === id),
      `dead letters of ${id}`,
    ).toHaveLength(1);
  }
  expect(receiver.arrivals.every((arrival) => arrival.attempt >= 1 && arrival.attempt <= 7)).toBe(true);
  expect(new Set(deadIds).size).toBe(deadIds.length);
  console.log(
    `kill loop: seed ${SEED}, ${KILLS} kills with ${inFlightAtKills} requests in flight, ${owed.length} deliveries, ` +
      `0 lost, ${letters.length} dead letters, ${duplicates} duplicates, ${receiver.arrivals.length} requests`,
  );
  expect(duplicates).toBeLessThanOrEqual(inFlightAtKills + notYetDurable);
}
