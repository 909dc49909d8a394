/**
 * The JSON form of an event, as POST /producer/events accepts it and the simulator sends it. It mirrors the Avro
 * records of schemas/events: amounts are decimal strings, times RFC 3339 text or milliseconds, null is the same as
 * absent.
 *
 * ```json { "type": "fiatToCrypto", "header": { "eventId": "<uuid>", "merchantId": "…", "entityId": "<uuid>",
 * "entityKind": "USER", "subType": "PENDING", "occurredAt": "2025-01-31T12:00:00.000Z", "simulated": true }, "data": {
 * "status": "PENDING", "transactionUuid": "<uuid>", "amountFiat": "250", "currencyFiat": "EUR" } } ```
 */
import { SUB_TYPES } from '../domain/catalog/catalog.ts';
import {
  type DomainEvent,
  ENTITY_KINDS,
  type EntityKind,
  EVENT_DATA_BYTES_MAX,
  EVENT_TYPES,
  type EventData,
  type EventType,
  isEventType,
  withData,
} from '../domain/event.ts';
import { didYouMean } from '../messages/did-you-mean.ts';
import { checkData } from './check-data.ts';
import { type CheckScalar, checkBoolean, checkOccurredAt, checkString, checkUuid } from './check-value.ts';
import { type EventProblem, pointerPart, report, shown } from './event-problem.ts';

export type DecodedJson =
  | { readonly ok: true; readonly event: DomainEvent }
  | { readonly ok: false; readonly errors: readonly EventProblem[] };

/** The result of `eventToJson`. `simulated` is always present. */
export interface EventJson {
  readonly type: EventType;
  readonly header: {
    readonly eventId: string;
    readonly merchantId: string;
    readonly entityId: string;
    readonly entityKind: EntityKind;
    readonly subType: string;
    readonly occurredAt: string;
    readonly simulated: boolean;
  };
  readonly data: EventData;
}

const EVENT_FIELDS = ['type', 'header', 'data'];
const HEADER_FIELDS = [
  'eventId',
  'merchantId',
  'entityId',
  'entityKind',
  'subType',
  'occurredAt',
  'simulated',
];
const MERCHANT_ID_CHARACTERS_MAX = 128;

/** Converts an event to its JSON form; decodeEventJson restores the same event. */
export function eventToJson(event: DomainEvent): EventJson {
  return {
    type: event.type,
    header: {
      eventId: event.eventId,
      merchantId: event.merchantId,
      entityId: event.entityId,
      entityKind: event.entityKind,
      subType: event.subType,
      occurredAt: new Date(event.occurredAt).toISOString(),
      simulated: event.simulated,
    },
    data: event.data,
  };
}

/** Checks and decodes the JSON form of one event (already parsed). Returns every problem it finds; never throws. */
export function decodeEventJson(value: unknown): DecodedJson {
  const problems: EventProblem[] = [];
  if (!isObject(value)) {
    report(problems, '', 'invalid_type', 'must be an object with type, header and data');
    return { ok: false, errors: problems };
  }
  refuseUnknown(value, EVENT_FIELDS, '', problems);
  const event = checkEvent(checkType(value.type, problems), value.header, value.data, problems);
  return event === undefined ? { ok: false, errors: problems } : { ok: true, event };
}

/**
 * Checks header and data against the catalog, for JSON and Avro alike. Returns undefined when a problem was reported.
 * Data is checked only when type and subType are known. `mayBeLarge`: whether its size must be measured.
 */
export function checkEvent(
  type: EventType | undefined,
  headerGiven: unknown,
  dataGiven: unknown,
  problems: EventProblem[],
  mayBeLarge = true,
): DomainEvent | undefined {
  if (!isObject(headerGiven)) {
    reportMissing(headerGiven, '/header', 'an object', problems);
    return undefined;
  }
  const header = checkHeader(headerGiven, type, problems);
  if (type === undefined || header.subType === undefined) return undefined;
  const data =
    dataGiven === undefined || dataGiven === null
      ? report(problems, '/data', 'required', 'is required but missing')
      : checkData(type, header.subType, dataGiven, problems);
  if (problems.length > 0 || data === undefined) return undefined;
  // No problem was reported, so the header is complete.
  const event = withData(header as Omit<DomainEvent, 'data'>, data);
  if (mayBeLarge) {
    const bytes = Buffer.byteLength(JSON.stringify(data));
    if (bytes > EVENT_DATA_BYTES_MAX) {
      const detail = `has ${bytes} bytes as JSON: at most ${EVENT_DATA_BYTES_MAX} are allowed`;
      return report(problems, '/data', 'too_long', detail);
    }
  }
  return event;
}

function checkType(value: unknown, problems: EventProblem[]): EventType | undefined {
  if (typeof value === 'string') {
    if (isEventType(value)) return value;
    const detail = `${shown(value)} is not an event type${didYouMean(value, EVENT_TYPES)}; known: ${EVENT_TYPES.join(', ')}`;
    return report(problems, '/type', 'invalid_enum', detail);
  }
  return reportMissing(value, '/type', 'a string', problems);
}

function checkHeader(header: Given, type: EventType | undefined, problems: EventProblem[]) {
  refuseUnknown(header, HEADER_FIELDS, '/header', problems);
  const entityKind = given(header.entityKind, '/header/entityKind', problems);
  const subType = given(header.subType, '/header/subType', problems);
  return {
    eventId: need(header.eventId, '/header/eventId', checkUuid, problems),
    merchantId: need(header.merchantId, '/header/merchantId', checkMerchantId, problems),
    entityId: need(header.entityId, '/header/entityId', checkUuid, problems),
    entityKind: entityKind === undefined ? undefined : checkEntityKind(entityKind, problems),
    type,
    subType: subType === undefined ? undefined : checkSubType(subType, type, problems),
    occurredAt: need(header.occurredAt, '/header/occurredAt', checkOccurredAt, problems),
    simulated:
      header.simulated === undefined
        ? false
        : need(header.simulated, '/header/simulated', checkBoolean, problems),
  };
}

function need<T>(
  value: unknown,
  pointer: string,
  check: CheckScalar<T>,
  problems: EventProblem[],
): T | undefined {
  const present = given(value, pointer, problems);
  return present === undefined ? undefined : check(present, pointer, problems);
}

/** Returns the value, or undefined when it is absent or null. */
function given(value: unknown, pointer: string, problems: EventProblem[]): unknown {
  if (value !== undefined && value !== null) return value;
  return report(problems, pointer, 'required', 'is required but missing');
}

export function checkMerchantId(
  value: unknown,
  pointer: string,
  problems: EventProblem[],
): string | undefined {
  const text = checkString(value, pointer, problems);
  if (text === undefined || text.length <= MERCHANT_ID_CHARACTERS_MAX) return text;
  const detail = `must have at most ${MERCHANT_ID_CHARACTERS_MAX} characters`;
  return report(problems, pointer, 'invalid_value', detail);
}

/** Accepts both kinds whatever the type: the unexpected one is delivered too (docs/decisions.md, "Event data"). */
function checkEntityKind(value: unknown, problems: EventProblem[]): string | undefined {
  const pointer = '/header/entityKind';
  const known: readonly unknown[] = ENTITY_KINDS;
  if (typeof value === 'string' && known.includes(value)) return value;
  if (typeof value !== 'string') return report(problems, pointer, 'invalid_type', 'must be a string');
  return report(problems, pointer, 'invalid_enum', `must be ${ENTITY_KINDS.join(' or ')}`);
}

function checkSubType(
  value: unknown,
  type: EventType | undefined,
  problems: EventProblem[],
): string | undefined {
  const pointer = '/header/subType';
  if (typeof value !== 'string') return report(problems, pointer, 'invalid_type', 'must be a string');
  if (type === undefined) return undefined;
  const known = SUB_TYPES[type];
  if (known.includes(value)) return value;
  const detail = `${type} has no subType ${shown(value)}${didYouMean(value, known)}; known: ${known.join(', ')}`;
  return report(problems, pointer, 'invalid_enum', detail);
}

type Given = { readonly [name: string]: unknown };

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function reportMissing(value: unknown, pointer: string, what: string, problems: EventProblem[]): undefined {
  return value === undefined || value === null
    ? report(problems, pointer, 'required', 'is required but missing')
    : report(problems, pointer, 'invalid_type', `must be ${what}`);
}

function refuseUnknown(
  given: Given,
  names: readonly string[],
  parent: string,
  problems: EventProblem[],
): void {
  for (const name in given) {
    if (names.includes(name)) continue;
    const detail = `${shown(name)} is not a known field${didYouMean(name, names)}`;
    report(problems, `${parent}/${pointerPart(name)}`, 'unknown_field', detail);
  }
}
