import type { FailureCode, ResponseKept } from './attempt.ts';
import type { ApiVersion } from './endpoint.ts';
import type { EventAsText } from './event.ts';
import type { CancelReason, Outcome } from './outcome.ts';
import type { DeliveryTask, ParkedReason } from './task.ts';

/** Why an endpoint did not get an event. */
export const SKIP_REASONS = [
  'filtered',
  'endpoint_disabled',
  'endpoint_auto_disabled',
  'type_not_in_api_version',
  'subtype_not_in_api_version',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** One line of the routing trace: the result of routing an event to one endpoint. */
export type RoutingVerdict =
  | {
      readonly endpointId: string;
      readonly verdict: 'delivered_to';
      readonly deliveryId: string;
      readonly apiVersion: ApiVersion;
    }
  | { readonly endpointId: string; readonly verdict: SkipReason };

/**
 * The delivery log no longer has entries that it had: commits were lost in a failover, or a backup was restored. The
 * journal is read again from the log's position.
 */
export class PositionLost extends Error {
  override readonly name = 'PositionLost';
}

/** An event was routed: the event itself, its bodies, and the trace. */
export interface Routed {
  readonly kind: 'routed';
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly acceptedAt: number;
  readonly event: EventAsText;
  /** The id of the event's subject (catalog/subject.ts); null: the entity. */
  readonly subjectId: string | null;
  /** The bodies sent, one per API version in use. */
  readonly bodies: readonly { readonly apiVersion: ApiVersion; readonly body: Uint8Array }[];
  readonly trace: readonly RoutingVerdict[];
}

/** The task's fields that the delivery log needs. */
export type DeliveryHead = Pick<
  DeliveryTask,
  | 'deliveryId'
  | 'eventId'
  | 'merchantId'
  | 'endpointId'
  | 'entityId'
  | 'subjectId'
  | 'sequence'
  | 'type'
  | 'subType'
  | 'apiVersion'
  | 'trigger'
  | 'attempt'
  | 'attemptsMax'
  | 'occurredAt'
  | 'acceptedAt'
>;

/** A delivery that did not come from routing was published: a test, a resend, a replay. */
export interface Requested {
  readonly kind: 'requested';
  readonly at: number;
  readonly delivery: DeliveryHead;
  readonly body: Uint8Array;
}

/** One HTTP exchange, and the decision after it. */
export interface Attempted {
  readonly kind: 'attempted';
  readonly delivery: DeliveryHead;
  /** The endpoint's version under which it was made: health ignores stale ones. */
  readonly endpointVersion: number;
  /** Milliseconds since the epoch, with fractions. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly failureCode: FailureCode | null;
  readonly failureDetail: string | null;
  readonly response: ResponseKept | null;
  /** The webhook-signature sent. With the delivery and the start it reproduces every header but Authorization. */
  readonly signature: string;
}

/** A delivery was cancelled before an attempt. */
export interface Cancelled {
  readonly kind: 'cancelled';
  readonly at: number;
  readonly delivery: DeliveryHead;
  readonly reason: CancelReason;
}

/** A task was put back. Written only now and then: see `parkTask`. */
export interface Parked {
  readonly kind: 'parked';
  readonly at: number;
  readonly delivery: DeliveryHead;
  readonly reason: ParkedReason;
  /** When it comes up again, milliseconds since the epoch; null = when an operator puts it back. */
  readonly until: number | null;
}

/** A record of what happened, in the order it became durable per stream partition. The recorder is its only reader. */
export type JournalEntry = Routed | Requested | Attempted | Cancelled | Parked;

/** Journal entries in order: an array, or entries that are decoded when they are read (codec/encoded-entries.ts). */
export interface JournalEntries extends Iterable<JournalEntry> {
  readonly length: number;
  at(index: number): JournalEntry | undefined;
}

/** Entries of one partition of the journal that follow one another. */
export interface JournalBatch {
  /** Identifies the partition and its incarnation: a recreated stream is another partition. */
  readonly partition: string;
  /**
   * The positions of the first entry and the last. They are strictly increasing within the stream; a batch omits none.
   */
  readonly first: number;
  readonly last: number;
  /** The position of each entry, where they are not consecutive from `first` on. */
  readonly positions?: readonly number[];
  /**
   * The position before this batch: `last` of the one before, or the store's when reading began. Absent: the store had
   * none, or the engine cannot read the entries before again.
   */
  readonly after?: number | undefined;
  readonly entries: JournalEntries;
}

/** A delivery that ended without success after its last attempt (or a 410): kept for operators. */
export interface DeadLetter {
  readonly task: DeliveryTask;
  readonly reason: 'exhausted' | 'refused';
  readonly failureCode: FailureCode;
  readonly at: number;
}
