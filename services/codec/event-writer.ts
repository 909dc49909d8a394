/** The reader for the records of one schema: made once per schema id, when its first record comes. */
import type avro from 'avsc';
import type { Type } from 'avsc';
import { subjectIdOf } from '../domain/catalog/subject.ts';
import { EVENT_TYPES, type EventData, type EventType } from '../domain/event.ts';
import { type EventAbout, knownAbout, type QuarantineReason } from '../domain/quarantine.ts';
import { errorLine } from '../messages/error-message.ts';
import { checkOccurredAt, checkString, checkUuid } from './check-value.ts';
import { checkMerchantId } from './event-json.ts';
import type { EventProblem } from './event-problem.ts';
import { eventSchemaText, recordNameOf, typeOfRecord } from './event-schemas.ts';
import type { EventRecords } from './generated/event-types.ts';
import { avroType, NotRepresentable } from './logical-types.ts';
import { type Readable, Reading, skip } from './reading.ts';
import { asResolver, type Resolver, resolverOf } from './written/resolution.ts';
import { RegisteredSchema, type WrittenSchema, writtenSchema } from './written/written-schema.ts';

/** The ids of the event and the merchant, and what the event is about, where they can be read. */
export interface ReadableHead extends EventAbout {
  readonly eventId?: string;
  readonly merchantId?: string;
}

export interface Unreadable {
  readonly reason: QuarantineReason;
  readonly detail: string;
}

export type EventRecord = EventRecords[EventType];

export interface EventWriter {
  readonly type: EventType;
  /** Returns the record, or why it cannot be read. */
  readonly read: (body: Buffer) => EventRecord | Unreadable;
  /** Reads the head of a record whose rest cannot be read. Never throws. */
  readonly head: (body: Buffer) => ReadableHead;
}

interface OwnEvent {
  readonly type: Type;
  readonly canonical: string;
}

/** A header as it was read, unchecked. */
type Header = { readonly [field: string]: unknown };

/** The texts of a header that are read from a record whose rest cannot be read. */
const READ_ALONE: ReadonlySet<string> = new Set(['eventId', 'merchantId', 'entityId', 'subType']);
/** A longer one is no subType. */
const SUB_TYPE_LENGTH_MAX = 64;

/** Our version of each record, read from disk on first use: the embedded engine never needs it. */
const OWN = new Map<EventType, OwnEvent>();

function ownEvent(type: EventType): OwnEvent {
  const known = OWN.get(type);
  if (known !== undefined) return known;
  const schema = JSON.parse(eventSchemaText(type));
  const own = { type: avroType(schema), canonical: writtenSchema(schema).canonical };
  OWN.set(type, own);
  return own;
}

export function ownTypeOf(type: EventType): Type {
  return ownEvent(type).type;
}

/** Returns the reader for records of a registered schema, or why there is none. */
export function eventWriter(schemaId: number, schema: unknown): EventWriter | Unreadable {
  const unusable = (detail: string): Unreadable => ({ reason: 'unusable_schema', detail });
  if (schema instanceof RegisteredSchema && schema.format !== 'AVRO') {
    return unusable(
      `schema ${schemaId} is a ${schema.format} schema, and hookrail reads Avro: publish with the Avro serializer of your registry`,
    );
  }
  let written: WrittenSchema;
  try {
    written = writtenSchema(schema);
  } catch (error) {
    return unusable(`schema ${schemaId} cannot be used: ${beginningOf(error)}`);
  }
  const { name = written.root.typeName } = written.root;
  const type = written.root.typeName === 'record' ? typeOfRecord(name) : undefined;
  if (type === undefined) {
    const known = EVENT_TYPES.map(recordNameOf).join(', ');
    return unusable(`schema ${schemaId} is ${name}, which is not an event; known: ${known}`);
  }
  const own = ownEvent(type);
  const resolver = resolverOf(own.type, written);
  const read = (body: Buffer) => readWith(own.type, resolver, schemaId, body);
  return {
    type,
    read: own.canonical === written.canonical ? (body) => readOwn(own.type, body) ?? read(body) : read,
    head: (body) => headOf(type, readableHeader(own.type, written.root, body)),
  };
}

/** Reads a record that was written with our own schema. Undefined: it cannot be read, the resolver says why. */
function readOwn(own: Type, body: Buffer): EventRecord | undefined {
  try {
    return own.fromBuffer(body);
  } catch {
    return undefined;
  }
}

function readWith(own: Type, resolver: Resolver, schemaId: number, body: Buffer): EventRecord | Unreadable {
  try {
    const { value, offset } = own.decode(body, 0, resolver);
    if (offset === body.length) return value;
    const what = offset < 0 ? 'the record is cut short' : `${body.length - offset} bytes follow the record`;
    return { reason: 'undecodable', detail: `${what}, as schema ${schemaId} describes it` };
  } catch (error) {
    const reason = error instanceof NotRepresentable ? 'schema_violation' : 'undecodable';
    return { reason, detail: `${beginningOf(error)} (schema ${schemaId})` };
  }
}

/** Avro's bytes carry no field names, so what stands before the ids must be read, too. */
function readableHeader(own: Type, root: Type, body: Buffer): Header {
  const found: Record<string, unknown> = {};
  const resolver = asResolver(own, (tap) => {
    const reading = new Reading(tap);
    for (const field of fieldsTo('header', root, reading)) {
      for (const { name, type } of fieldsOf(reading, field)) {
        if (!READ_ALONE.has(name)) skip(reading, type);
        else if (type.typeName === 'string') found[name] = (type as unknown as Readable)._read(tap);
        else return;
      }
    }
  });
  try {
    own.decode(body, 0, resolver);
  } catch {
    // The fields before the fault are returned.
  }
  return found;
}

/** Returns the field's type once the fields before it have been skipped. */
function fieldsTo(name: string, root: Type, reading: Reading): Type[] {
  for (const field of (root as avro.types.RecordType).fields) {
    if (field.name === name) return [field.type];
    skip(reading, field.type);
  }
  return [];
}

function fieldsOf(reading: Reading, type: Type): readonly avro.types.Field[] {
  const { types } = type as avro.types.WrappedUnionType;
  const record = types === undefined ? type : types[reading.branchOf(type)];
  return record?.typeName === 'record' ? (record as avro.types.RecordType).fields : [];
}

/** Returns what is well-formed in a header, and the subject in the data, if that could be read. */
export function headOf(type: EventType, header: Header, data: object = {}): ReadableHead {
  const none: EventProblem[] = [];
  const eventId = checkUuid(header.eventId, '', none);
  const merchantId = checkMerchantId(header.merchantId, '', none);
  const entityId = checkUuid(header.entityId, '', none);
  const subType = checkString(header.subType, '', none);
  const subjectId = subjectIdOf({ type, entityId: entityId ?? '', data: data as EventData });
  const about = {
    entityId,
    subjectId: subjectId ?? undefined,
    type,
    subType: subType !== undefined && subType.length <= SUB_TYPE_LENGTH_MAX ? subType : undefined,
    occurredAt: checkOccurredAt(header.occurredAt, '', none),
  };
  return {
    ...(eventId === undefined ? {} : { eventId }),
    ...(merchantId === undefined ? {} : { merchantId }),
    ...knownAbout(about),
  };
}

/** Returns the beginning of a message, which may repeat a whole schema. */
function beginningOf(error: unknown): string {
  const text = errorLine(error);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
