import { eventCodec, taskCodec } from '../../codec/records.ts';
import type { DomainEvent } from '../../domain/event.ts';
import { parkedTask } from '../../domain/parking.ts';
import { aboutOf, type Quarantined, type Refusal, refusalText } from '../../domain/quarantine.ts';
import type { DeliveryTask } from '../../domain/task.ts';
import type { PutAside, ReceivedEvent, RouterResult, Settlement } from '../broker.ts';
import type { CommitHalf } from './commit-half.ts';
import { JOURNAL } from './file/wire.ts';

/** Writes the router's result for an event. */
export function settleEvent(result: RouterResult, half: CommitHalf, now: number): void {
  switch (result.kind) {
    case 'routed':
      half.append(JOURNAL, result.journal);
      for (const task of result.tasks) half.appendTask(task, now);
      break;
    case 'quarantined':
      half.quarantine(result.record);
      break;
    case 'repeated':
      break;
  }
}

/** Writes the sender's settlement of a task. Returns false when the task was given back: then nothing is written. */
export function settleTask(
  settlement: Settlement,
  task: DeliveryTask,
  half: CommitHalf,
  options: { readonly now: number; readonly retryScale: number },
): boolean {
  switch (settlement.kind) {
    case 'settled':
      for (const entry of settlement.journal) half.append(JOURNAL, entry);
      if (settlement.dead) half.deadLetter(settlement.dead);
      if (settlement.next) half.delay(settlement.next);
      if (settlement.aside) half.quarantine(asideRecord(task, settlement.aside));
      return true;
    case 'parked': {
      for (const entry of settlement.journal ?? []) half.append(JOURNAL, entry);
      half.delay(parkedTask(task, settlement, options));
      return true;
    }
    case 'released':
      return false;
  }
}

/** An event in this engine. Its bytes are created on demand, because they are rarely needed. */
export class EmbeddedEvent implements ReceivedEvent {
  readonly acceptedAt: number;
  readonly decoded: { readonly ok: true; readonly event: DomainEvent };

  constructor(event: DomainEvent, acceptedAt: number) {
    this.acceptedAt = acceptedAt;
    this.decoded = { ok: true, event };
  }

  get bytes(): Uint8Array {
    return eventBytes(this.decoded.event);
  }
}

/**
 * Returns the bytes under which an event is quarantined: JSON, which an operator can read and which needs no schema to
 * be put back years later.
 */
function eventBytes(event: DomainEvent): Buffer {
  return Buffer.from(JSON.stringify(event));
}

/** Returns the record under which a task is put aside: JSON like an event's, its body in base64. */
function asideRecord(task: DeliveryTask, aside: PutAside): Quarantined {
  const { eventId, merchantId, endpointId, deliveryId } = task;
  const body = Buffer.from(task.body).toString('base64');
  const bytes = Buffer.from(JSON.stringify({ ...task, body }));
  return { ...aside, eventId, merchantId, ...aboutOf(task), endpointId, deliveryId, bytes };
}

/** Returns the task of a record that was put aside, or undefined when it does not fit this version. */
export function taskOf(record: Quarantined): DeliveryTask | undefined {
  try {
    const task = JSON.parse(Buffer.from(record.bytes).toString('utf8'));
    const whole: DeliveryTask = { ...task, body: Buffer.from(task.body, 'base64') };
    taskCodec.toBuffer(whole);
    return whole;
  } catch {
    return undefined;
  }
}

/** Returns the event of a quarantined record, or undefined when this engine could not have put it on EVENTS. */
export function eventOf(record: Quarantined): DomainEvent | undefined {
  try {
    const event = JSON.parse(Buffer.from(record.bytes).toString('utf8')) as DomainEvent;
    // An event that does not fit the stream's schema cannot be put back.
    eventCodec.toBuffer(event);
    return event;
  } catch {
    return undefined;
  }
}

/** Returns the quarantined record of an event whose producer was told that it will not be routed. */
export function refusedRecord(event: DomainEvent, reason: Refusal, at: number): Quarantined {
  const { eventId, merchantId } = event;
  return {
    reason,
    detail: refusalText(reason, event, at),
    at,
    eventId,
    merchantId,
    ...aboutOf(event),
    bytes: eventBytes(event),
    publishedBy: event.publishedBy,
  };
}

/** An event whose id is known with other content (docs/decisions.md, "Producers"): kept for operators, never routed. */
export function conflicting(event: DomainEvent, at: number): Quarantined {
  return {
    reason: 'event_id_conflict',
    detail: 'an event with this id and different content came before; that one was routed, this one was not',
    at,
    eventId: event.eventId,
    merchantId: event.merchantId,
    ...aboutOf(event),
    bytes: eventBytes(event),
    publishedBy: event.publishedBy,
  };
}
