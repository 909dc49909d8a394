import { randomUUID } from 'node:crypto';
import type { ReceivedEvent } from '../../../services/broker/broker.ts';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import type { DirectoryChange } from '../../../services/domain/directory.ts';
import { type DomainEvent, eventAsText } from '../../../services/domain/event.ts';
import { deliveryId } from '../../../services/domain/ids.ts';
import type { Attempted, DeadLetter, Requested, Routed } from '../../../services/domain/journal.ts';
import type { Quarantined } from '../../../services/domain/quarantine.ts';
import type { DeliveryTask } from '../../../services/domain/task.ts';
import { sampleEvent } from '../../../services/samples/sample.ts';

/** Records for tests of the broker: small, valid, with unique ids. */

const SAMPLE = sampleEvent({
  type: 'fiatToCrypto',
  subType: 'SUCCESS',
  merchantId: 'merchant-1',
  entityId: '11111111-1111-4111-8111-111111111111',
  seed: 'broker',
  occurredAt: 1_700_000_000_000,
  simulated: false,
});

/** The id of the API key that published the events. */
const PUBLISHER = '99999999-9999-4999-8999-999999999999';

export function anEvent(over: Partial<DomainEvent> = {}): DomainEvent {
  const ids = { eventId: randomUUID(), entityId: randomUUID() };
  return { ...SAMPLE, ...ids, data: { ...SAMPLE.data }, publishedBy: PUBLISHER, ...over };
}

export function aTask(over: Partial<DeliveryTask> = {}): DeliveryTask {
  return {
    deliveryId: randomUUID(),
    eventId: randomUUID(),
    merchantId: 'merchant-1',
    endpointId: 'endpoint-1',
    entityId: 'entity-1',
    subjectId: 'transaction-1',
    sequence: 1_700_000_000_001_042,
    type: 'KYC',
    subType: 'KYC_APPROVED',
    apiVersion: '2.3.8',
    trigger: 'live',
    attempt: 1,
    attemptsMax: 7,
    dueAt: 0,
    hop: 0,
    occurredAt: 1_700_000_000_000,
    acceptedAt: 1_700_000_000_001.25,
    body: Buffer.from('{"body":"✓"}'),
    ...over,
  };
}

/** Returns the task of the first attempt that routing an event creates. */
export function taskOf(event: DomainEvent): DeliveryTask {
  return aTask({ deliveryId: deliveryId(event.eventId, 'endpoint-1'), eventId: event.eventId });
}

export function routed(event: DomainEvent): Routed {
  return {
    kind: 'routed',
    at: 1_700_000_000_002,
    acceptedAt: 1_700_000_000_001,
    event: eventAsText(event),
    subjectId: subjectIdOf(event),
    bodies: [{ apiVersion: '2.3.8', body: Buffer.from('{}') }],
    trace: [{ endpointId: 'endpoint-1', verdict: 'filtered' }],
  };
}

export function requested(task: DeliveryTask): Requested {
  return { kind: 'requested', at: 1_700_000_000_003, delivery: headOf(task), body: task.body };
}

export function attempted(
  task: DeliveryTask,
  outcome: Attempted['outcome'] = { kind: 'delivered' },
): Attempted {
  return {
    kind: 'attempted',
    delivery: headOf(task),
    endpointVersion: 3,
    startedAt: 1_700_000_000_004.5,
    durationMs: 12.5,
    outcome,
    failureCode: outcome.kind === 'delivered' ? null : 'http_5xx',
    failureDetail: null,
    response: { status: 200, headers: [['server', 'x']], body: Buffer.from('ok'), bodyTruncated: false },
    signature: 'v1,signature',
  };
}

export function deadLetter(task: DeliveryTask): DeadLetter {
  return { task, reason: 'exhausted', failureCode: 'http_5xx', at: 1_700_000_000_005 };
}

export function quarantined(
  event: DomainEvent,
  { bytes, origin }: Pick<ReceivedEvent, 'bytes' | 'origin'>,
): Quarantined {
  return {
    reason: 'unknown_merchant',
    detail: 'no such merchant',
    at: 1_700_000_000_006,
    eventId: event.eventId,
    merchantId: event.merchantId,
    bytes,
    publishedBy: event.publishedBy,
    ...(origin && { origin }),
  };
}

export function merchantChange(
  id: string,
  version: number,
  name: string | null = `name ${version}`,
): DirectoryChange {
  const value = name && {
    merchantId: id,
    name,
    state: 'active' as const,
    senderAccountDetails: false,
    version,
  };
  return { kind: 'merchant', id, version, value: value || null };
}

/** A directory that has every merchant. */
export const EVERY_MERCHANT = {
  merchant: (merchantId: string) =>
    ({ merchantId, name: 'any', state: 'active', senderAccountDetails: false, version: 1 }) as const,
};

export function endpointChange(id: string, version: number): DirectoryChange {
  return {
    kind: 'endpoint',
    id,
    version,
    value: {
      uuid: id,
      merchantId: 'merchant-1',
      url: 'https://example.com/hook',
      subscribedEvents: ['KYC'],
      status: 'active',
      apiVersion: '2.3.8',
      secret: { keyId: 'k1', ciphertext: 'c2VjcmV0' },
      publicKeySignature: true,
      legacy: false,
      version,
    },
  };
}

function headOf(task: DeliveryTask): Attempted['delivery'] {
  const { dueAt: _due, hop: _hop, body: _body, traceparent: _trace, ...rest } = task;
  const { linkedSpan: _linked, parked: _parked, ...head } = rest;
  return head;
}
