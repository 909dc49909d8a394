/**
 * An event of the platform: something happened to a user or corporate, or to something of theirs. The producer chooses
 * the event id; every id that hookrail derives from it is deterministic (ids.ts).
 */

/** All event types a filter may name and an envelope may carry (docs/decisions.md, "Event data"). */
export const EVENT_TYPES = [
  'fiatToCrypto',
  'cryptoToFiat',
  'KYC',
  'KYB',
  'AML',
  'serviceBankAccount',
  'entityStatusUpdate',
  'walletCreated',
  'linkedBankAccountProfile',
  'linkBankAccount',
  'duplicateUser',
  'senderNameMismatch',
  'otpNotification',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const ENTITY_KINDS = ['USER', 'CORPORATE'] as const;
export type EntityKind = (typeof ENTITY_KINDS)[number];

/**
 * A value inside `data`. Amounts are exact plain decimal *strings* here ("0.3"); the renderer writes them as digits.
 */
export type EventValue = string | number | boolean | null | EventValue[] | { [field: string]: EventValue };
export type EventData = { [field: string]: EventValue };

/**
 * The most bytes of an event's `data` as JSON. A journal record holds an event and its body in each API version, on a
 * topic that allows 1 MiB: three times this, which leaves a quarter for headers and the verdicts on some 2,500
 * endpoints.
 */
export const EVENT_DATA_BYTES_MAX = 256 * 1024;

/**
 * The most bytes of an event's record on the events topic. A larger one is not decoded: that takes long, and its data
 * would exceed its own limit but for fields that hookrail does not know.
 */
export const EVENT_RECORD_BYTES_MAX = 2 * EVENT_DATA_BYTES_MAX;

export interface DomainEvent {
  readonly eventId: string;
  readonly merchantId: string;
  /** The user or corporate the event concerns: the envelope's `uuid`. */
  readonly entityId: string;
  readonly entityKind: EntityKind;
  readonly type: EventType;
  readonly subType: string;
  /** When it happened, milliseconds since the epoch. */
  readonly occurredAt: number;
  /** Made by the simulator. Production quarantines these. */
  readonly simulated: boolean;
  readonly data: EventData;
  /**
   * The id of the API key that published it, or PUBLISHED_ON_KAFKA; absent where it is not known. No part of its content:
   * the same event under another key is a repeat.
   */
  readonly publishedBy?: string | undefined;
  /** Its place among the events of its entity (catalog/sequence.ts); absent before hookrail accepts it. No part of its content. */
  readonly sequence?: number | undefined;
}

/** Of events that came to the topic without the API: there the brokers know who writes. No id of a key is this word. */
export const PUBLISHED_ON_KAFKA = 'kafka';

export function isEventType(value: string): value is EventType {
  return (EVENT_TYPES as readonly string[]).includes(value);
}

/**
 * Returns an event with this head and this data, or another form of the data. All events are made here, field by field,
 * so that they share one shape: this runs for every event, and spreading costs several times as much.
 */
export function withData<Data>(
  head: Omit<DomainEvent, 'data'>,
  data: Data,
  publishedBy = head.publishedBy,
  sequence = head.sequence,
): Omit<DomainEvent, 'data'> & { readonly data: Data } {
  return {
    eventId: head.eventId,
    merchantId: head.merchantId,
    entityId: head.entityId,
    entityKind: head.entityKind,
    type: head.type,
    subType: head.subType,
    occurredAt: head.occurredAt,
    simulated: head.simulated,
    data,
    // Absent fields are null in Avro.
    publishedBy: publishedBy ?? undefined,
    sequence: sequence ?? undefined,
  };
}

/**
 * An event whose data is JSON text: between the router and the delivery log nobody looks into it, so it is neither
 * parsed nor written again.
 */
export type EventAsText = Omit<DomainEvent, 'data'> & { readonly data: string };

export function eventAsText(event: DomainEvent): EventAsText {
  return withData(event, JSON.stringify(event.data));
}
