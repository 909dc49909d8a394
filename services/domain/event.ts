/**
 * An event of the platform: something happened to a user or a corporate, or to something of theirs.
 * The event id is the producer's; every id that hookrail derives from it is deterministic (ids.ts).
 */

/**
 * All event types a filter may name (docs/specification.md, "Webhook endpoint") and an envelope may carry
 * (docs/specification.md, "Event types").
 */
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
 * Bytes of an event's `data` as JSON. The journal holds an event and its body in each API version, in one record of a
 * topic that takes 1 MiB: three times this, and a quarter of it is left for what surrounds them and for some 2,500
 * endpoints.
 */
export const EVENT_DATA_BYTES_MAX = 256 * 1024;

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
  /** Made by the simulator. Production refuses these into quarantine. */
  readonly simulated: boolean;
  readonly data: EventData;
}

export function isEventType(value: string): value is EventType {
  return (EVENT_TYPES as readonly string[]).includes(value);
}

/**
 * An event of this head, with its data or what stands for it. One shape for every event, made in one place; field by
 * field, because this runs for every event and spreading costs several times as much.
 */
export function withData<Data>(
  head: Omit<DomainEvent, 'data'>,
  data: Data,
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
  };
}
