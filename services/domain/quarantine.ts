import { hash } from 'node:crypto';
import { subjectIdOf } from './catalog/subject.ts';
import { contentFaults } from './content/content-faults.ts';
import type { DomainEvent } from './event.ts';
import { uuidV5 } from './ids.ts';
import type { WebhookType } from './notices/notice.ts';
import type { DeliveryTask } from './task.ts';

/**
 * Why an event cannot be routed, or (`attempt_stalled`) a task is put aside. The bytes are kept; after a fix the record
 * can be put back on its stream.
 */
export const QUARANTINE_REASONS = [
  'undecodable',
  'unknown_schema',
  'unusable_schema',
  'schema_violation',
  'too_large',
  'event_id_conflict',
  'unknown_merchant',
  'simulated_in_production',
  'render_failed',
  'write_refused',
  'event_stalled',
  'attempt_stalled',
] as const;
export type QuarantineReason = (typeof QUARANTINE_REASONS)[number];

/** The reasons that follow from an event and the directory: whoever publishes the event can know them. */
const REFUSALS = [
  'schema_violation',
  'simulated_in_production',
  'unknown_merchant',
] as const satisfies readonly QuarantineReason[];
export type Refusal = (typeof REFUSALS)[number];

export function isRefusal(text: string | undefined): text is Refusal {
  return REFUSALS.some((refusal) => refusal === text);
}

/** Returns why an event is not routed, or null. `now`: milliseconds since the epoch. */
export function refusalOf(
  event: DomainEvent,
  known: { readonly acceptsSimulated: boolean; readonly isMerchantKnown: boolean; readonly now: number },
): Refusal | null {
  if (contentFaults(event, known.now).length > 0) return 'schema_violation';
  if (event.simulated && !known.acceptsSimulated) return 'simulated_in_production';
  return known.isMerchantKnown ? null : 'unknown_merchant';
}

/** Returns what is wrong and where, for people. */
export function refusalText(refusal: Refusal, event: DomainEvent, now: number): string {
  switch (refusal) {
    case 'schema_violation': {
      const faults = contentFaults(event, now).map(({ pointer, detail }) => `${pointer} ${detail}`);
      // A time that was too far ahead when the publisher was told may no longer be.
      return faults.join('; ') || 'its content broke a rule when it was published';
    }
    case 'simulated_in_production':
      return 'the event is marked simulated and this deployment is production';
    case 'unknown_merchant':
      return `the directory has no merchant ${event.merchantId} that takes events`;
  }
}

/** Says what an event is about, without its content. Each is absent where the event could not be read that far. */
export interface EventAbout {
  readonly entityId?: string;
  /** As subjectIdOf returns it; absent also where the event is about its entity. */
  readonly subjectId?: string;
  readonly type?: WebhookType;
  /** Not checked: it may be none of the type's. */
  readonly subType?: string;
  /** Milliseconds since the epoch. */
  readonly occurredAt?: number;
}

/** The head of an event, or of a task for it, which has its subject already. */
type HasHead =
  | Pick<DomainEvent, 'entityId' | 'type' | 'subType' | 'occurredAt' | 'data'>
  | Pick<DeliveryTask, 'entityId' | 'type' | 'subType' | 'occurredAt' | 'subjectId'>;

/** Returns what a whole event, or a task for one, is about. */
export function aboutOf(event: HasHead): EventAbout {
  const { entityId, type, subType, occurredAt } = event;
  const subjectId = 'subjectId' in event ? event.subjectId : subjectIdOf(event);
  return { entityId, ...(subjectId === null ? {} : { subjectId }), type, subType, occurredAt };
}

/** Returns the same of an event that could not be read as a whole. */
export function knownAbout({
  entityId,
  subjectId,
  type,
  subType,
  occurredAt,
}: { readonly [K in keyof EventAbout]?: EventAbout[K] | undefined }): EventAbout {
  return {
    ...(entityId === undefined ? {} : { entityId }),
    ...(subjectId === undefined ? {} : { subjectId }),
    ...(type === undefined ? {} : { type }),
    ...(subType === undefined ? {} : { subType }),
    ...(occurredAt === undefined ? {} : { occurredAt }),
  };
}

export interface Quarantined extends EventAbout {
  readonly reason: QuarantineReason;
  /** A description of what is wrong and where, without personal data. */
  readonly detail: string;
  readonly at: number;
  /** If it could be read that far. */
  readonly eventId: string | null;
  readonly merchantId: string | null;
  /** Of a task that was put aside. */
  readonly endpointId?: string;
  readonly deliveryId?: string;
  /** The record's value as it arrived; only its beginning when `origin.isWhole` is false. */
  readonly bytes: Uint8Array;
  /** The id of the API key that published the event, or PUBLISHED_ON_KAFKA; absent where it is not known. */
  readonly publishedBy?: string | undefined;
  /** The Kafka record it came from. Absent on the embedded engine. */
  readonly origin?: RecordOrigin;
}

/** A Kafka record's position and everything beside its value. */
export interface RecordOrigin {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** The record's time, milliseconds since the epoch. */
  readonly timestamp: number;
  readonly key: Uint8Array | null;
  /** In order; a name may occur more than once. */
  readonly headers: readonly RecordHeader[];
  /** Length of the value as it arrived; null = the record had no value (a tombstone). */
  readonly valueBytes: number | null;
  /** Whether key, headers and value are kept in full. Only then can the record be put back. */
  readonly isWhole: boolean;
}

export interface RecordHeader {
  readonly name: string;
  readonly value: Uint8Array | null;
}

/** Returns a Kafka record's position as text. */
export function placeOf({ topic, partition, offset }: RecordOrigin): string {
  return `${topic}/${partition}@${offset}`;
}

/**
 * Returns the event id under which a conflict can be published; null for any other record. It is made of the event's id
 * and content: whatever is put back twice is a repeat.
 */
export function newEventId({ reason, eventId, bytes }: Quarantined): string | null {
  if (reason !== 'event_id_conflict') return null;
  return uuidV5('as-new-event', eventId ?? '', hash('sha256', bytes, 'hex'));
}

/** Returns why a record is not put back whose event would be quarantined again. It stays, with its time of arrival. */
export function wouldReturn(refusal: string): string {
  return `it would be quarantined again: ${refusal}`;
}
