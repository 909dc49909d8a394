import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeAll } from 'vitest';
import type { Broker } from '../../services/broker/broker.ts';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { Directory } from '../../services/domain/directory.ts';
import type { JournalEntries, JournalEntry } from '../../services/domain/journal.ts';
import type { DeliveryTask, Trigger } from '../../services/domain/task.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { systemClock } from '../../services/process/clock.ts';
import { type Sender, type SenderDeps, startSender } from '../../services/sender/sender.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import { loopbackTransport } from '../support/receivers/loopback-transport.ts';
import {
  type Answer,
  receiverCertificates,
  startRawReceiver,
} from '../support/receivers/misbehaving-receivers.ts';

export const clock = systemClock();
const log = createLogger('silent');
/** The endpoint that every sender has; a test may give it more. */
export const endpointId = randomUUID();
const keyRing = KeyRing.parse(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
  'of the test',
);
export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

let certificates: Awaited<ReturnType<typeof receiverCertificates>>;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  certificates = await receiverCertificates();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

export async function openEngine(dir: string): Promise<Broker> {
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

export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'hookrail-sender-'));
  closing.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Everything the broker's journal says, as it comes. */
export async function readJournal(broker: Broker): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  const take = async ({ entries: batch }: { entries: JournalEntries }) => void entries.push(...batch);
  await broker.journal.consume(take, async () => undefined, { batchMax: 1000 });
  return entries;
}

export async function start(broker: Broker, answer: Answer, change: Partial<SenderDeps> = {}) {
  const receiver = await startRawReceiver(certificates.certificate, answer);
  closing.push(() => receiver.close());
  const directory = new Directory();
  /** `path`: of the receiver, or a whole URL. */
  const addEndpoint = (id: string, path: string) => {
    const value = {
      uuid: id,
      merchantId: 'm1',
      url: new URL(path, receiver.origin).href,
      subscribedEvents: null,
      status: 'active',
      apiVersion: '2.3.8',
      secret: keyRing.seal('whsec_AAAABBBBCCCCDDDD', id),
      publicKeySignature: false,
      legacy: false,
      version: 1,
    } as const;
    directory.apply({ kind: 'endpoint', id, version: 1, value });
  };
  addEndpoint(endpointId, '/hook');
  const transport = loopbackTransport(clock, certificates.ca);
  closing.push(() => transport.close());
  const registry = new Registry();
  const sender: Sender = await startSender({
    broker,
    directory,
    ready: () => true,
    keyRing,
    environment: 'sandbox',
    clock,
    transport,
    retryScale: 100,
    options: { inFlightMax: 64 },
    log,
    registry,
    ...change,
  });
  closing.push(() => sender.stop(5000));
  return { receiver, sender, registry, transport, addEndpoint };
}

export function taskOf(change: Partial<DeliveryTask> & { trigger: Trigger }): DeliveryTask {
  return {
    deliveryId: randomUUID(),
    eventId: randomUUID(),
    merchantId: 'm1',
    endpointId,
    entityId: randomUUID(),
    subjectId: null,
    sequence: 1_700_000_000_000_001,
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

export const publish = (broker: Broker, tasks: DeliveryTask[]) =>
  broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));

export const seen = (received: string) =>
  [...received.matchAll(/webhook-delivery-id: (\S+)/g)].map(([, id]) => id);
