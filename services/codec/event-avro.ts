/**
 * Events on the events topic: Confluent's wire format (a zero byte, the schema's id in four bytes, the Avro record),
 * one record per event type. The writer's schema may be another version than ours: a reader is made once per id.
 */

import { type DomainEvent, EVENT_RECORD_BYTES_MAX, type EventType } from '../domain/event.ts';
import type { QuarantineReason } from '../domain/quarantine.ts';
import { lookOf, lookOfBody } from './bytes-look.ts';
import { eventDocument, plainDocument } from './clear-document.ts';
import { checkEvent } from './event-json.ts';
import type { EventProblem } from './event-problem.ts';
import {
  type EventWriter,
  eventWriter,
  headOf,
  ownTypeOf,
  type ReadableHead,
  type Unreadable,
} from './event-writer.ts';
import type { EventRecords } from './generated/event-types.ts';

const MAGIC = 0;
const PREFIX_BYTES = 5;
/**
 * A record up to this length cannot exceed the limit as JSON, where a character takes at most six bytes, plus the
 * field names.
 */
const SMALL_BYTES = 16 * 1024;

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
  | ({ readonly ok: false; readonly reason: QuarantineReason; readonly detail: string } & ReadableHead);

/** The content of a record, for people, with every rule that it breaks; or why it cannot be read. */
export type ClearEvent =
  | { readonly document: unknown; readonly problems: readonly EventProblem[]; readonly event?: DomainEvent }
  | { readonly why: string };

/**
 * Decodes records of the events topic. `schemaOf` returns the writer's schema (RegisteredSchema, or JSON, parsed or as text)
 * of an id, or undefined when the registry has none; it is called once per id that it knows. Fetch schemas before decoding:
 * `schemaIdOf` returns the id that a record needs.
 */
export class EventDecoder {
  readonly #schemaOf: (schemaId: number) => unknown;
  readonly #absenceOf: (schemaId: number) => string;
  readonly #writers = new Map<number, EventWriter | Unreadable>();

  /** `absenceOf` says of an unknown id what the registry lacks. */
  constructor(
    schemaOf: (schemaId: number) => unknown,
    absenceOf = (id: number) => `the registry has no schema ${id}`,
  ) {
    this.#schemaOf = schemaOf;
    this.#absenceOf = absenceOf;
  }

  /** Returns the event, or the reason why the record goes to quarantine. Never throws: poison records are input. */
  decode(bytes: Uint8Array): DecodedEvent {
    const schemaId = schemaIdOf(bytes);
    if (schemaId === undefined) {
      const detail = 'the record is not in Confluent’s wire format (0, schema id, Avro)';
      return refuse({ reason: 'undecodable', detail: withLook(detail, lookOf(bytes)) });
    }
    const writer = this.#writerOf(schemaId);
    if (writer === undefined) {
      const detail = withLook(this.#absenceOf(schemaId), lookOfBody(bytes));
      return refuse({ reason: 'unknown_schema', detail });
    }
    const body = bodyOf(bytes);
    if ('reason' in writer) return refuse(writer);
    if (bytes.length > EVENT_RECORD_BYTES_MAX) {
      const detail = `the record has ${bytes.length} bytes: at most ${EVENT_RECORD_BYTES_MAX} are allowed`;
      return refuse({ reason: 'too_large', detail }, writer.head(body));
    }
    const record = writer.read(body);
    if ('reason' in record) {
      const { reason, detail } = record;
      const look = reason === 'undecodable' ? lookOfBody(bytes) : '';
      return refuse({ reason, detail: withLook(detail, look) }, writer.head(body));
    }
    const problems: EventProblem[] = [];
    const mayBeLarge = bytes.length > SMALL_BYTES;
    const event = checkEvent(writer.type, record.header, record.data, problems, mayBeLarge);
    if (event !== undefined) return { ok: true, event };
    const reason = problems.every(({ code }) => code === 'too_long') ? 'too_large' : 'schema_violation';
    const head = headOf(writer.type, { ...record.header }, record.data);
    return refuse({ reason, detail: describe(problems) }, head);
  }

  /** Returns a record in clear text, as far as it can be read. Never throws. */
  clearText(bytes: Uint8Array): ClearEvent {
    const decoded = this.decode(bytes);
    if (decoded.ok) return { document: eventDocument(decoded.event), problems: [], event: decoded.event };
    const writer = this.#writers.get(schemaIdOf(bytes) ?? -1);
    const isReadable = writer !== undefined && 'read' in writer && bytes.length <= EVENT_RECORD_BYTES_MAX;
    const record = isReadable ? writer.read(bodyOf(bytes)) : undefined;
    if (!isReadable || record === undefined || 'reason' in record) return { why: decoded.detail };
    const problems: EventProblem[] = [];
    checkEvent(writer.type, record.header, record.data, problems);
    const document = plainDocument({ type: writer.type, header: record.header, data: record.data });
    return { document, problems };
  }

  #writerOf(schemaId: number): EventWriter | Unreadable | undefined {
    const known = this.#writers.get(schemaId);
    if (known !== undefined) return known;
    const schema = this.#schemaOf(schemaId);
    if (schema === undefined || schema === null) return undefined;
    const writer = eventWriter(schemaId, schema);
    this.#writers.set(schemaId, writer);
    return writer;
  }
}

function bodyOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + PREFIX_BYTES, bytes.length - PREFIX_BYTES);
}

function withLook(detail: string, look: string): string {
  return look === '' ? detail : `${detail}; ${look}`;
}

function describe(problems: readonly EventProblem[]): string {
  return problems.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
}

function refuse({ reason, detail }: Unreadable, head?: ReadableHead): DecodedEvent {
  return { ok: false, reason, detail, ...head };
}
