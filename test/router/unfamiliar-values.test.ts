/**
 * Guarantee: a status, a failure type or a kind of entity that the catalog does not list is delivered as it is. It is
 * counted, and logged once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqliteBroker, type SqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { decodeEventJson, eventToJson } from '../../services/codec/events.ts';
import { Directory } from '../../services/domain/directory.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { systemClock } from '../../services/process/clock.ts';
import { startRouter } from '../../services/router/router.ts';
import { sampleEvent } from '../../services/samples/sample.ts';
import { eventually } from '../support/eventually.ts';

const MERCHANT = 'm1';
const folder = mkdtempSync(join(tmpdir(), 'hookrail-unfamiliar-'));
const clock = systemClock();
const registry = new Registry();
const logged: Record<string, unknown>[] = [];
const tasks: DeliveryTask[] = [];
let broker: SqliteBroker;

beforeAll(async () => {
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  broker = await openSqliteBroker({ file: join(folder, 'broker.db'), clock, retryScale: 1 });
  const directory = new Directory();
  const merchant = { merchantId: MERCHANT, name: 'M', state: 'active', senderAccountDetails: false } as const;
  directory.apply({ kind: 'merchant', id: MERCHANT, version: 1, value: { ...merchant, version: 1 } });
  const uuid = uuidV5('endpoint');
  const endpoint = {
    uuid,
    merchantId: MERCHANT,
    url: 'https://hooks.merchant.com/',
    subscribedEvents: null,
    status: 'active',
    apiVersion: '2.3.8',
    secret: { keyId: 'k', ciphertext: '' },
    publicKeySignature: false,
    legacy: false,
    version: 1,
  } as const;
  directory.apply({ kind: 'endpoint', id: uuid, version: 1, value: endpoint });
  await startRouter({ broker, directory, acceptsSimulated: true, clock, log, registry });
  await broker.tasks.live.consume(
    async (task) => {
      tasks.push(task);
      return { kind: 'settled', journal: [] };
    },
    { inFlightMax: 10 },
  );
});

afterAll(async () => {
  await broker.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Publishes an event as a producer's JSON would bring it, and returns the body of its delivery. */
async function bodyOf(event: DomainEvent) {
  const decoded = decodeEventJson(JSON.parse(JSON.stringify(eventToJson(event))));
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.errors));
  await broker.publishEvents([decoded.event]);
  const task = await eventually('the event has a task', () =>
    tasks.find(({ eventId }) => eventId === event.eventId),
  );
  return JSON.parse(Buffer.from(task.body).toString('utf8'));
}

const sample = (type: DomainEvent['type'], subType: string, seed: string) =>
  sampleEvent({
    type,
    subType,
    merchantId: MERCHANT,
    entityId: uuidV5('user'),
    seed,
    occurredAt: 1_700_000_000_000,
  });

const counted = async (labels: object) => {
  const metric = await registry.getSingleMetric('hookrail_unfamiliar_values_total')?.get();
  return metric?.values.find((each) => JSON.stringify(each.labels) === JSON.stringify(labels))?.value ?? 0;
};

it.each([
  ['fiatToCrypto', 'ON_HOLD', 'status', 'ON_HOLD_SANCTIONS'],
  ['cryptoToFiat', 'FAILED', 'status', 'PAYOUT_RETURNED'],
  ['KYC', 'FULL_USER', 'status', 'FULL_USER_TIER_2'],
  ['serviceBankAccount', 'statusUpdate', 'status', 'CLOSED'],
  ['linkedBankAccountProfile', 'statusUpdate', 'status', 'CLOSED'],
  ['linkBankAccount', 'statusUpdate', 'status', 'EXPIRED'],
  ['entityStatusUpdate', 'BLOCKED', 'status', 'BLOCKED_BY_COURT'],
  ['otpNotification', 'EMAIL_DELIVERY_FAILED', 'failureType', 'COMPLAINT'],
] as const)('an unknown value of %s %s is delivered as it is', async (type, subType, field, value) => {
  const event = sample(type, subType, `unknown-${type}`);
  const body = await bodyOf({ ...event, data: { ...event.data, [field]: value } });
  expect(body).toMatchObject({ type, subType, data: { [field]: value } });
  expect(await counted({ type, field: `data.${field}` })).toBe(1);
  expect(logged).toContainEqual(
    expect.objectContaining({ level: 40, type, subType, field: `data.${field}`, value }),
  );
});

it('an unknown value inside a list is delivered and counted', async () => {
  const event = sample('KYC', 'SOFT_KYC_FAILED', 'list');
  const body = await bodyOf({ ...event, data: { ...event.data, docs_missing: [{ docType: 'VISA' }] } });
  expect(body.data.docs_missing).toEqual([{ docType: 'VISA' }]);
  expect(await counted({ type: 'KYC', field: 'data.docs_missing.docType' })).toBe(1);
});

it('an event about the unexpected kind of entity is delivered and counted', async () => {
  const event = { ...sample('KYC', 'FULL_USER', 'corporate'), entityKind: 'CORPORATE' } as const;
  expect(await bodyOf(event)).toMatchObject({ subType: 'FULL_USER', uuid: event.entityId });
  expect(await counted({ type: 'KYC', field: 'header.entityKind' })).toBe(1);
});

it('a value is counted each time and logged once; a known one is neither', async () => {
  for (const seed of ['first', 'second']) {
    const event = sample('linkBankAccount', 'statusUpdate', seed);
    await bodyOf({ ...event, data: { ...event.data, status: 'FROZEN' } });
  }
  expect(await counted({ type: 'linkBankAccount', field: 'data.status' })).toBe(3);
  expect(logged.filter(({ value }) => value === 'FROZEN')).toHaveLength(1);
  await bodyOf(sample('linkBankAccount', 'statusUpdate', 'known'));
  expect(await counted({ type: 'linkBankAccount', field: 'data.status' })).toBe(3);
});
