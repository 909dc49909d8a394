/**
 * Guarantee: the sender sends the tasks of the broker, one first attempt of an entity after the other; it sends
 * nothing by a directory that is not fresh; and when it stops, tasks in flight are finished or released, uncounted.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { Broker, Ownership, Settlement } from '../../services/broker/broker.ts';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { Directory } from '../../services/domain/directory.ts';
import type { JournalEntry } from '../../services/domain/journal.ts';
import type { DeliveryTask, Trigger } from '../../services/domain/task.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { systemClock } from '../../services/process/clock.ts';
import { type Sender, type SenderDeps, startSender } from '../../services/sender/sender.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import { eventually } from '../support/eventually.ts';
import { loopbackTransport } from '../support/receivers/loopback-transport.ts';
import {
  type Answer,
  receiverCertificates,
  startRawReceiver,
} from '../support/receivers/misbehaving-receivers.ts';

const clock = systemClock();
const log = createLogger('silent');
const endpointId = randomUUID();
const keyRing = KeyRing.parse(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
  'of the test',
);
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

let certificates: Awaited<ReturnType<typeof receiverCertificates>>;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  certificates = await receiverCertificates();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function openEngine(dir: string): Promise<Broker> {
  const broker = await openSqliteBroker({
    file: join(dir, 'broker.db'),
    clock,
    retryScale: 100,
    log,
    recentEventsRetentionMs: 3_600_000,
  });
  closing.push(() => broker.close());
  return broker;
}

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'hookrail-sender-'));
  closing.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Everything the broker's journal says, as it comes. */
async function readJournal(broker: Broker): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  const take = async ({ entries: batch }: { entries: readonly JournalEntry[] }) =>
    void entries.push(...batch);
  await broker.journal.consume(take, async () => undefined, { batchMax: 1000 });
  return entries;
}

async function start(broker: Broker, answer: Answer, change: Partial<SenderDeps> = {}) {
  const receiver = await startRawReceiver(certificates.certificate, answer);
  closing.push(() => receiver.close());
  const directory = new Directory();
  const value = {
    uuid: endpointId,
    merchantId: 'm1',
    url: `${receiver.origin}/hook`,
    subscribedEvents: null,
    status: 'active',
    apiVersion: '2.3.8',
    secret: keyRing.seal('whsec_AAAABBBBCCCCDDDD', endpointId),
    legacy: false,
    version: 1,
  } as const;
  directory.apply({ kind: 'endpoint', id: endpointId, version: 1, value });
  const transport = loopbackTransport(clock, certificates.ca);
  closing.push(() => transport.close());
  const registry = new Registry();
  const sender: Sender = await startSender({
    broker,
    directory,
    ready: () => true,
    keyRing,
    clock,
    transport,
    retryScale: 100,
    options: { inFlightMax: 64 },
    log,
    registry,
    ...change,
  });
  closing.push(() => sender.stop(5000));
  return { receiver, sender, registry, directory };
}

function taskOf(change: Partial<DeliveryTask> & { trigger: Trigger }): DeliveryTask {
  return {
    deliveryId: randomUUID(),
    eventId: randomUUID(),
    merchantId: 'm1',
    endpointId,
    entityId: randomUUID(),
    type: 'KYC',
    subType: 'KYC_STARTED',
    apiVersion: '2.3.8',
    attempt: 1,
    attemptsMax: 7,
    dueAt: 0,
    hop: 0,
    occurredAt: Math.floor(clock.now()),
    acceptedAt: Math.floor(clock.now()),
    body: Buffer.from('{"uuid":"u1"}'),
    ...change,
  };
}

const publish = (broker: Broker, tasks: DeliveryTask[]) =>
  broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));

const seen = (received: string) => [...received.matchAll(/webhook-delivery-id: (\S+)/g)].map(([, id]) => id);

test('the sender sends tasks of every trigger, and journals their attempts', async () => {
  const broker = await openEngine(tempDir());
  const journal = await readJournal(broker);
  const { receiver, registry } = await start(broker, (socket) => void socket.write(OK));
  const tasks = (['live', 'test', 'manual', 'replay'] as const).map((trigger) => taskOf({ trigger }));
  await publish(broker, tasks);
  await eventually('four attempts in the journal', () => journal.length === 4);
  expect(new Set(seen(receiver.received))).toEqual(new Set(tasks.map(({ deliveryId }) => deliveryId)));
  const text = await registry.metrics();
  expect(text).toContain('hookrail_attempts_total{result="delivered",attempt="1"} 4');
  expect(text).toContain('hookrail_early_retries_total 0');
  expect(text).toMatch(/hookrail_in_flight\{lane="fast"\} 0/);
  expect(text).not.toContain(endpointId);
});

test('a failed attempt is followed by the next, numbered and not early, and the seventh by a dead letter', async () => {
  const broker = await openEngine(tempDir());
  const journal = await readJournal(broker);
  const { receiver, registry } = await start(
    broker,
    (socket) => void socket.write('HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n'),
    // The gaps of 3 s to 13 h become 0.3 ms to 4.7 s.
    { retryScale: 10_000 },
  );
  await publish(broker, [taskOf({ trigger: 'live' })]);
  await eventually('seven attempts in the journal', () => journal.length === 7, 25_000);
  const numbers = [...receiver.received.matchAll(/webhook-attempt: (\d)/g)].map(([, n]) => n);
  expect(numbers).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  const attempts = journal.flatMap((entry) => (entry.kind === 'attempted' ? [entry] : []));
  for (const [i, { startedAt }] of attempts.entries()) {
    const before = attempts[i - 1];
    if (before?.outcome.kind === 'retry') expect(startedAt).toBeGreaterThanOrEqual(before.outcome.dueAt);
  }
  const dead = await eventually(
    'a dead letter',
    async () => (await broker.deadLetters.list({ limit: 10 }))[0],
  );
  expect(dead.record).toMatchObject({ reason: 'exhausted', failureCode: 'http_5xx' });
  expect(await registry.metrics()).toContain('hookrail_dead_letters_total{reason="exhausted"} 1');
}, 30_000);

test('first attempts of one entity arrive in the order in which they were published', async () => {
  const broker = await openEngine(tempDir());
  let turn = 0;
  const { receiver } = await start(
    broker,
    // Answers take different times, so that attempts made together would overtake one another.
    (socket) => setTimeout(() => socket.write(OK), (turn++ % 3) * 5),
    // Room for all, and no demotion on a busy machine: both may change the order, and do so on purpose.
    { options: { inFlightMax: 1024, lanes: { demoteAfterMs: 15_000 } } },
  );
  const entityId = randomUUID();
  const tasks = Array.from({ length: 25 }, () => taskOf({ trigger: 'live', entityId }));
  for (const task of tasks) await publish(broker, [task]);
  await eventually('all requests have arrived', () => seen(receiver.received).length === tasks.length);
  expect(seen(receiver.received)).toEqual(tasks.map(({ deliveryId }) => deliveryId));
});

test('the sender sends nothing while the directory is not fresh', async () => {
  const broker = await openEngine(tempDir());
  let isFresh = false;
  let asked = 0;
  const ready = () => {
    asked += 1;
    return isFresh;
  };
  const { receiver } = await start(broker, (socket) => void socket.write(OK), { ready });
  await publish(broker, [taskOf({ trigger: 'live' })]);
  await eventually('readiness was looked at several times', () => asked > 3);
  expect(receiver.accepted).toBe(0);
  isFresh = true;
  await eventually('the request was sent', () => seen(receiver.received).length === 1);
});

test('a task whose ownership is uncertain waits, and is given back once it is lost', async () => {
  const broker = await openEngine(tempDir());
  const ownerships: Ownership[] = [];
  const settled: Settlement[] = [];
  const ownership = () => ownerships[0] ?? 'owned';
  // The real source, of which somebody else takes over the partitions.
  const live: Broker['tasks']['live'] = {
    consume: (handler, limits) =>
      broker.tasks.live.consume(async (task, signal) => {
        const settlement = await handler(task, signal, ownership);
        settled.push(settlement);
        return settlement.kind === 'released' ? { kind: 'settled', journal: [] } : settlement;
      }, limits),
  };
  const { receiver } = await start(broker, (socket) => void socket.write(OK), {
    broker: { tasks: { ...broker.tasks, live } },
  });
  ownerships.push('unsure');
  await publish(broker, [taskOf({ trigger: 'live' })]);
  await clock.sleep(300);
  expect([receiver.accepted, settled.length]).toEqual([0, 0]);
  ownerships[0] = 'lost';
  await eventually('the task was given back', () => settled.length === 1);
  expect(settled).toEqual([{ kind: 'released' }]);
  ownerships[0] = 'owned';
  await publish(broker, [taskOf({ trigger: 'live' })]);
  await eventually('the next task was sent', () => seen(receiver.received).length === 1);
});

test('a stop releases tasks in flight and waiting, uncounted, and a restart sends them', async () => {
  const dir = tempDir();
  const first = await openEngine(dir);
  const journal = await readJournal(first);
  const { receiver, sender } = await start(first, () => {});
  const entityId = randomUUID();
  const tasks = Array.from({ length: 3 }, () => taskOf({ trigger: 'live', entityId }));
  await publish(first, tasks);
  await eventually('one attempt is in flight', () => seen(receiver.received).length === 1);
  await sender.stop(800);
  await sender.stop(800);
  expect(sender.inFlight()).toEqual({ fast: 0, slow: 0, waiting: 0 });
  expect(journal).toEqual([]);
  await first.close();

  const second = await openEngine(dir);
  const again = await readJournal(second);
  const { receiver: next } = await start(second, (socket) => void socket.write(OK));
  await eventually('all three tasks were sent', () => again.length === 3);
  expect(new Set(seen(next.received))).toEqual(new Set(tasks.map(({ deliveryId }) => deliveryId)));
  expect(next.received.match(/webhook-attempt: (\d)/g)).toEqual(Array(3).fill('webhook-attempt: 1'));
});

test('a stop lets an attempt finish that is answered in time', async () => {
  const broker = await openEngine(tempDir());
  const journal = await readJournal(broker);
  const answers: (() => void)[] = [];
  const { sender } = await start(broker, (socket) => void answers.push(() => socket.write(OK)));
  await publish(broker, [taskOf({ trigger: 'live' })]);
  const answer = await eventually('the attempt is in flight', () => answers[0]);
  const stopped = sender.stop(20_000);
  answer();
  await stopped;
  await eventually('the attempt is in the journal', () => journal.length === 1);
  expect(journal).toMatchObject([{ kind: 'attempted', outcome: { kind: 'delivered' } }]);
});
