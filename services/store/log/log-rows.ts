import type { ResponseKept } from '../../domain/attempt.ts';
import type { Observation } from '../../domain/health.ts';
import type { DeliveryHead, Routed } from '../../domain/journal.ts';
import type { Delivery, NewDelivery } from './delivery.ts';
import type { TraceLine, Withdrawn } from './trace-lines.ts';

/* Numbers stand for ids and words (codes.ts). */

/** The changes that a repeated routing made to an event. */
export interface Completed {
  /** Whether it was the event's first routing. */
  readonly isFirst: boolean;
  /** The lines that a repeat has added or changed. */
  readonly changed: readonly number[];
  /** The deliveries that the repeat does not have. */
  readonly withdrawn: readonly Withdrawn[];
}

/** An attempt made under `version` of the endpoint. An older version does not count for the present one. */
export interface Observed {
  readonly endpointId: string;
  readonly version: number;
  readonly seen: Observation;
}

export interface NewAttempt {
  /** The delivery's number times ATTEMPTS_PER_DELIVERY, plus the attempt's. */
  readonly attemptId: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly response: ResponseKept | null;
  /** False where the bodies of its event were removed. */
  readonly keepsBody: boolean;
  readonly failureCode: number | null;
  readonly failureDetail: string | null;
  readonly nextAttemptAt: number | null;
  readonly signature: string;
}

/** Kinds of a feed row; `ref` and `detail` mean: */
export const FEED_KIND = {
  /** event, number of lines that its trace had */
  routed: 1,
  /** event, index of a line that a repeated routing added to its trace or changed */
  line: 2,
  /** delivery */
  requested: 3,
  /** attempt */
  attempt: 4,
  /** delivery, code of the reason */
  cancelled: 5,
  /** audit entry */
  endpoint: 6,
} as const;

/** The numbers of merchants and endpoints, given when they are first asked for. */
export interface NameNumbers {
  merchant(merchantId: string): number;
  endpoint(endpointId: string, merchant: number): number;
  endpointId(endpoint: number): string;
}

export interface LogEvents {
  find(eventId: string, merchant: number): number | undefined;
  /** An event whose entity was erased after it was accepted is kept without its bodies. */
  insert(
    entry: Routed,
    merchant: number,
    trace: readonly TraceLine[],
  ): { readonly seq: number; readonly isRemoved: boolean };
  /**
   * The event is known. Its first routing fills the row; a repeated one adds lines that the first did not have, and an
   * endpoint once delivered to stays so.
   */
  complete(event: number, entry: Routed, trace: readonly TraceLine[]): Completed;
  /** Returns the event of a delivery, made from the delivery when its routing was not recorded (yet, or it has none). */
  ofDelivery(head: DeliveryHead, merchant: number, createdAt: number): number;
  /** A delivery of it was made at this time: the event is kept as long as that. */
  touch(event: number, at: number): void;
  isRemoved(event: number): boolean;
  /** Returns its body in an API version, if it has one. */
  body(event: number, apiVersion: number): Buffer | undefined;
  /** Marks in the trace that a replay sends the event to an endpoint that was skipped. */
  replayed(event: number, endpoint: number, deliveryId: string, apiVersion: number): void;
}

export interface LogDeliveries {
  /** Returns the delivery as it is stored, or undefined. */
  load(deliveryId: string, endpointId: string): Delivery | undefined;
  /**
   * Returns a delivery that is stored although its event is new: an attempt was recorded first. Undefined where that would
   * have made a row of the event.
   */
  ofNewEvent(deliveryId: string): Delivery | undefined;
  /** Makes a delivery that has no row yet; its number is reserved. */
  begin(made: NewDelivery): Delivery;
  /** Sets when it was requested: an attempt recorded first only knew about the event. */
  setCreated(delivery: Delivery, at: number): void;
  /** Stores a body that is not among its event's. */
  addBody(delivery: Delivery, body: Uint8Array): void;
}

export interface LogAttempts {
  /** Returns false when the attempt is known. */
  add(attempt: NewAttempt): boolean;
}

export interface LogMissed {
  /** A delivery was made for a skipped event. */
  begin(delivery: Delivery): void;
  /** The delivery's status may have changed from `before`. */
  follow(delivery: Delivery, before: number): void;
}

export interface LogHealth {
  observe(observed: Observed): void;
}

/** A new attempt, in codes. */
export interface TalliedAttempt {
  readonly endpoint: number;
  readonly type: number;
  readonly startedAt: number;
  readonly durationMs: number;
  /** See tally/tallies.ts. */
  readonly outcome: number;
  /** 0 = it did not fail. */
  readonly failureCode: number;
}

export interface LogTallies {
  /** Called once for each attempt that the log has. */
  count(attempt: TalliedAttempt): void;
}

export interface LogFeed {
  add(
    merchantId: string,
    kind: keyof typeof FEED_KIND,
    row: { readonly ref: number; readonly detail?: number; readonly at: number },
  ): void;
}

/** The rows of an engine's log, as JournalFold reads and changes them. */
export interface LogRows {
  readonly names: NameNumbers;
  readonly events: LogEvents;
  readonly deliveries: LogDeliveries;
  readonly attempts: LogAttempts;
  readonly missed: LogMissed;
  readonly health: LogHealth;
  readonly tallies: LogTallies;
  readonly feed: LogFeed;
}
