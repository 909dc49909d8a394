/**
 * Events on the events topic: Confluent's wire format (a zero byte, the schema's id in four bytes, the Avro record),
 * one record per event type. The writer's schema may be another version than ours: resolvers are made once per id.
 */

import type avro from 'avsc';
import { type DomainEvent, EVENT_RECORD_BYTES_MAX, EVENT_TYPES, type EventType } from '../domain/event.ts';
import type { QuarantineReason } from '../domain/quarantine.ts';
import { messageOf } from '../messages/error-message.ts';
import { checkUuid } from './check-value.ts';
import { checkEvent, checkMerchantId } from './event-json.ts';
import type { EventProblem } from './event-problem.ts';
import { eventSchemaText, recordNameOf, typeOfRecord } from './event-schemas.ts';
import type { EventRecords } from './generated/event-types.ts';
import { avroType, NotRepresentable } from './logical-types.ts';

const MAGIC = 0;
const PREFIX_BYTES = 5;
/**
 * A record up to this length cannot exceed the limit as JSON, where a character takes at most six bytes, plus the
 * field names.
 */
const SMALL_BYTES = 16 * 1024;

/** Our version of each record, read from disk on first use: the embedded engine never needs it. */
const OWN_TYPES = new Map<EventType, avro.Type>();

function ownTypeOf(type: EventType): avro.Type {
  const known = OWN_TYPES.get(type);
  if (known !== undefined) return known;
  const own = avroType(JSON.parse(eventSchemaText(type)));
  OWN_TYPES.set(type, own);
  return own;
}

/**
 * Encodes the event as a record of the events topic, with the registry's id of our schema. Throws for an event that
 * does not fit the schema; events from decodeEventJson and sampleEvent always fit.
 */
export function encodeEvent(event: DomainEvent, schemaId: number): Buffer {
  const record = {
    header: {
      eventId: event.eventId,
      merchantId: event.merchantId,
      entityId: event.entityId,
      entityKind: event.entityKind,
      subType: event.subType,
      occurredAt: event.occurredAt,
      simulated: event.simulated,
    },
    data: event.data,
  } satisfies { header: EventRecords[EventType]['header']; data: unknown };
  const body = ownTypeOf(event.type).toBuffer(record);
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + body.length);
  bytes.writeUInt8(MAGIC, 0);
  bytes.writeUInt32BE(schemaId, 1);
  body.copy(bytes, PREFIX_BYTES);
  return bytes;
}

/** Returns the schema id of a record in Confluent's wire format; undefined when it is not in that format. */
export function schemaIdOf(bytes: Uint8Array): number | undefined {
  if (bytes.length < PREFIX_BYTES || bytes[0] !== MAGIC) return undefined;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1);
}

export type DecodedEvent =
  | { readonly ok: true; readonly event: DomainEvent }
  | ({ readonly ok: false; readonly reason: QuarantineReason; readonly detail: string } & HeaderIds);

/** The ids of the event and the merchant in a record's header, where they can be read. */
interface HeaderIds {
  readonly eventId?: string;
  readonly merchantId?: string;
}

/** The reader for the records of one schema id, or the reason why they cannot be read. */
type Writer =
  | {
      readonly type: EventType;
      readonly own: avro.Type;
      readonly resolver: ReturnType<avro.Type['createResolver']>;
      readonly header: HeaderReader;
    }
  | { readonly header?: HeaderReader; readonly reason: QuarantineReason; readonly detail: string };

/**
 * Decodes records of the events topic. `schemaOf` returns the writer's schema (JSON, parsed or as text) of an id, or
 * undefined when the registry has none; it is called once per id that it knows. Fetch schemas before decoding:
 * `schemaIdOf` returns the id that a record needs.
 */
export class EventDecoder {
  readonly #schemaOf: (schemaId: number) => unknown;
  readonly #writers = new Map<number, Writer>();

  constructor(schemaOf: (schemaId: number) => unknown) {
    this.#schemaOf = schemaOf;
  }

  /** Returns the event, or the reason why the record goes to quarantine. Never throws: poison records are input. */
  decode(bytes: Uint8Array): DecodedEvent {
    const schemaId = schemaIdOf(bytes);
    if (schemaId === undefined) {
      return refuse('undecodable', 'the record is not in Confluent’s wire format (0, schema id, Avro)');
    }
    const writer = this.#writerOf(schemaId);
    if (writer === undefined) return refuse('unknown_schema', `the registry has no schema ${schemaId}`);
    const body = Buffer.from(bytes.buffer, bytes.byteOffset + PREFIX_BYTES, bytes.length - PREFIX_BYTES);
    if ('reason' in writer) return refuse(writer.reason, writer.detail, writer.header?.(body));
    if (bytes.length > EVENT_RECORD_BYTES_MAX) {
      const detail = `the record has ${bytes.length} bytes: at most ${EVENT_RECORD_BYTES_MAX} are allowed`;
      return refuse('too_large', detail, writer.header(body));
    }
    let record: EventRecords[EventType];
    try {
      record = writer.own.fromBuffer(body, writer.resolver);
    } catch (error) {
      const reason = error instanceof NotRepresentable ? 'schema_violation' : 'undecodable';
      const detail = `schema ${schemaId} cannot read the record: ${beginningOf(error)}`;
      return refuse(reason, detail, writer.header(body));
    }
    const problems: EventProblem[] = [];
    const mayBeLarge = bytes.length > SMALL_BYTES;
    const event = checkEvent(writer.type, record.header, record.data, problems, mayBeLarge);
    if (event !== undefined) return { ok: true, event };
    const reason = problems.every(({ code }) => code === 'too_long') ? 'too_large' : 'schema_violation';
    return refuse(reason, describe(problems), idsOf(record.header));
  }

  #writerOf(schemaId: number): Writer | undefined {
    const known = this.#writers.get(schemaId);
    if (known !== undefined) return known;
    const schema = this.#schemaOf(schemaId);
    if (schema === undefined || schema === null) return undefined;
    const writer = resolveWriter(schemaId, schema);
    this.#writers.set(schemaId, writer);
    return writer;
  }
}

function resolveWriter(schemaId: number, schema: unknown): Writer {
  let written: avro.Type;
  try {
    written = avroType(typeof schema === 'string' ? JSON.parse(schema) : schema);
  } catch (error) {
    return { reason: 'unknown_schema', detail: `schema ${schemaId} cannot be used: ${beginningOf(error)}` };
  }
  const type = typeOfRecord(written.name ?? '');
  if (type === undefined) {
    const known = EVENT_TYPES.map(recordNameOf).join(', ');
    const detail = `schema ${schemaId} is ${written.name ?? written.typeName}, which is not an event; known: ${known}`;
    return { reason: 'unknown_schema', detail };
  }
  const own = ownTypeOf(type);
  const header = headerReader(written, own);
  try {
    return { type, own, resolver: own.createResolver(written), header };
  } catch (error) {
    const detail = `schema ${schemaId} does not fit ${written.name}: ${beginningOf(error)}`;
    return { reason: 'schema_violation', detail, header };
  }
}

/** Reads the ids at the beginning of a record whose rest cannot be read. Never throws. */
type HeaderReader = (body: Buffer) => HeaderIds;

function headerReader(written: avro.Type, own: avro.Type): HeaderReader {
  const nothing = () => ({});
  const first = (written as avro.types.RecordType).fields?.[0];
  const ownHeader = (own as avro.types.RecordType).field('header')?.type;
  // Avro's bytes carry no field names: only the first field can be read without reading those before it.
  if (first?.name !== 'header' || ownHeader === undefined) return nothing;
  try {
    const resolver = ownHeader.createResolver(first.type);
    return (body) => {
      try {
        const { value, offset } = ownHeader.decode(body, 0, resolver);
        return offset < 0 ? {} : idsOf(value);
      } catch {
        return {};
      }
    };
  } catch {
    return nothing;
  }
}

/** Returns the well-formed ids of a header. */
function idsOf({
  eventId,
  merchantId,
}: {
  readonly eventId?: unknown;
  readonly merchantId?: unknown;
}): HeaderIds {
  const none: EventProblem[] = [];
  const event = checkUuid(eventId, '', none);
  const merchant = checkMerchantId(merchantId, '', none);
  return {
    ...(event === undefined ? {} : { eventId: event }),
    ...(merchant === undefined ? {} : { merchantId: merchant }),
  };
}

/** Returns the beginning of avsc's message, which may repeat a whole schema. */
function beginningOf(error: unknown): string {
  const text = messageOf(error);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function describe(problems: readonly EventProblem[]): string {
  return problems.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
}

function refuse(reason: QuarantineReason, detail: string, ids?: HeaderIds): DecodedEvent {
  return { ok: false, reason, detail, ...ids };
}
