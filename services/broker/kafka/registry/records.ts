import { ByteWriter } from '../../../codec/byte-writer.ts';
import {
  type ClearEvent,
  type DecodedEvent,
  EventDecoder,
  encodeEvent,
  schemaIdOf,
} from '../../../codec/event-avro.ts';
import { eventSchemaText, recordNameOf } from '../../../codec/event-schemas.ts';
import { joinEntries, splitEntries, writeEntries } from '../../../codec/journal-blocks.ts';
import type { RecordCodec, RecordDecoder } from '../../../codec/record-codec.ts';
import {
  deadLetterCodec,
  directoryCodec,
  journalCodec,
  journalEntriesCodec,
  quarantinedCodec,
  taskCodec,
} from '../../../codec/records.ts';
import type { DirectoryChange } from '../../../domain/directory.ts';
import { type DomainEvent, EVENT_TYPES, type EventType } from '../../../domain/event.ts';
import type { DeadLetter, JournalEntry } from '../../../domain/journal.ts';
import type { Quarantined } from '../../../domain/quarantine.ts';
import type { DeliveryTask } from '../../../domain/task.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { SchemaRegistry } from './registry.ts';
import { type OwnSchema, type ResolveOptions, resolveSchemaIds } from './registry-ids.ts';
import { KnownSchemas } from './registry-schemas.ts';

export interface RecordOf {
  readonly task: DeliveryTask;
  /** At least one, at most JOURNAL_RECORD_MAX. */
  readonly journal: readonly JournalEntry[];
  readonly directory: DirectoryChange;
  readonly quarantined: Quarantined;
  readonly deadLetter: DeadLetter;
}

export type RecordKind = keyof RecordOf;

const CODECS: { readonly [K in RecordKind]: RecordCodec<RecordOf[K]> } = {
  task: taskCodec,
  journal: { ...journalEntriesCodec, encode: writeEntries },
  directory: directoryCodec,
  quarantined: quarantinedCodec,
  deadLetter: deadLetterCodec,
};

/**
 * Returns every schema that this version writes with: those of the internal records and every event type, complete in
 * themselves.
 */
export function ownSchemas(): OwnSchema[] {
  const internal = Object.values(CODECS).map(({ name, schema }) => ({ subject: name, text: schema }));
  const events = EVENT_TYPES.map((type) => ({ subject: recordNameOf(type), text: eventSchemaText(type) }));
  return [...internal, ...events];
}

const PREFIX_BYTES = 5;
/** Entries in one record of the journal. */
export const JOURNAL_RECORD_MAX = 64;
const NO_BYTES = Buffer.alloc(0);

/** The codec of one kind of record: the bytes each record starts with, and a reader per schema of the writers. */
interface Kind<T> {
  readonly codec: RecordCodec<T>;
  readonly prefix: Buffer;
  /** A text is the reason why records with this schema cannot be read. */
  readonly decoders: Map<number, RecordDecoder<T> | string>;
}

type Kinds = { readonly [K in RecordKind]: Kind<RecordOf[K]> };

/**
 * Every record of every topic, in Confluent's wire format: a zero byte, the schema's id in four bytes, the Avro record.
 * Encoding and decoding never wait; a record with an unknown schema must be learnt first (`isKnown`, `learn`).
 */
export class KafkaRecords {
  readonly #kinds: Kinds;
  readonly #eventIds: ReadonlyMap<EventType, number>;
  readonly #schemas: KnownSchemas;
  readonly #events: EventDecoder;
  readonly #scratch = new ByteWriter();

  /**
   * Registers our schemas (the internal ones and every event type's) where they are missing, under their record names,
   * and resolves their ids. Rejects with one line that names the remedy; `options.giveUpMs` limits the wait for a
   * registry that has not started yet.
   */
  static async open(registry: SchemaRegistry, options: ResolveOptions): Promise<KafkaRecords> {
    const own = ownSchemas();
    const ids = await resolveSchemaIds(registry, own, options);
    const schemas = new KnownSchemas(registry, options.clock, options.log);
    for (const { subject, text } of own) schemas.add(idIn(ids, subject), text);
    return new KafkaRecords(ids, schemas);
  }

  private constructor(ids: ReadonlyMap<string, number>, schemas: KnownSchemas) {
    const kindOf = <T>(codec: RecordCodec<T>): Kind<T> => {
      const prefix = Buffer.alloc(PREFIX_BYTES);
      prefix.writeUInt32BE(idIn(ids, codec.name), 1);
      return { codec, prefix, decoders: new Map() };
    };
    this.#kinds = {
      task: kindOf(CODECS.task),
      journal: kindOf(CODECS.journal),
      directory: kindOf(CODECS.directory),
      quarantined: kindOf(CODECS.quarantined),
      deadLetter: kindOf(CODECS.deadLetter),
    };
    this.#eventIds = new Map(EVENT_TYPES.map((type) => [type, idIn(ids, recordNameOf(type))]));
    this.#schemas = schemas;
    this.#events = new EventDecoder(
      (id) => schemas.schemaOf(id),
      (id) => schemas.absenceOf(id),
    );
  }

  /** Throws, naming the field, when the record does not fit its schema. The caller may keep the bytes. */
  encode<K extends RecordKind>(kind: K, record: RecordOf[K]): Buffer {
    const { codec, prefix }: Kind<RecordOf[K]> = this.#kinds[kind];
    this.#scratch.truncate(0);
    this.#scratch.bytes(prefix);
    codec.encode(record, this.#scratch);
    return Buffer.from(this.#scratch.written);
  }

  /** Like encodeEvent of the codec: for events that passed its checks. */
  encodeEvent(event: DomainEvent): Buffer {
    const id = this.#eventIds.get(event.type);
    if (id === undefined) throw new Error(`${event.type} is not an event type`);
    return encodeEvent(event, id);
  }

  /**
   * Returns whether decoding needs no registry: the record's schema is known, or was absent when the registry was asked
   * after the record had been read (`readAt`, the clock's time), or the record names none.
   */
  isKnown(bytes: Buffer | null, readAt?: number): boolean {
    const id = schemaIdOf(bytes ?? NO_BYTES);
    return id === undefined || this.#schemas.isKnown(id, readAt);
  }

  /** The number of schemas that are being requested from the registry. */
  get schemasWaiting(): number {
    return this.#schemas.waiting;
  }

  /**
   * Requests the record's schema from the registry until it responds or the signal fires; one that is absent is asked for
   * again for some seconds. Never rejects.
   */
  async learn(bytes: Buffer | null, signal: AbortSignal, readAt?: number): Promise<void> {
    const id = schemaIdOf(bytes ?? NO_BYTES);
    if (id !== undefined) await this.#schemas.learn(id, signal, readAt);
  }

  /** Throws with one line when the bytes are not exactly one record of this kind. */
  decode<K extends RecordKind>(kind: K, bytes: Buffer | null): RecordOf[K] {
    const { codec, decoders }: Kind<RecordOf[K]> = this.#kinds[kind];
    const id = schemaIdOf(bytes ?? NO_BYTES);
    if (bytes === null || id === undefined) {
      throw new Error(`${codec.name}: the record is not in Confluent's wire format (0, schema id, Avro)`);
    }
    const decoder = decoders.get(id) ?? this.#decoderOf(codec, decoders, id);
    if (typeof decoder === 'string') throw new Error(decoder);
    const record = read(codec.name, decoder, bytes);
    const trailing = bytes.length - decoder.end;
    if (trailing !== 0) throw new Error(`${codec.name}: ${trailing} bytes follow the record`);
    return record;
  }

  /**
   * Returns a journal record's entries, each encoded by the current schema. Those that were written with it are not
   * decoded, so nothing shows whether they can be; `isDecoded`: they are, too, and it throws like `decode`.
   */
  journalEntries(bytes: Buffer | null, { isDecoded }: { readonly isDecoded: boolean }): readonly Buffer[] {
    const isCurrent = bytes !== null && this.#kinds.journal.prefix.equals(bytes.subarray(0, PREFIX_BYTES));
    const parts = isCurrent && !isDecoded ? splitEntries(bytes, PREFIX_BYTES) : undefined;
    return parts ?? this.decode('journal', bytes).map((entry) => journalCodec.toBuffer(entry));
  }

  /** Returns the event, or the reason why the record goes to quarantine. Never throws. */
  decodeEvent(bytes: Buffer | null): DecodedEvent {
    return this.#events.decode(bytes ?? NO_BYTES);
  }

  /** Returns an event's record in clear text, as far as it can be read. Never throws. */
  clearEvent(bytes: Buffer): ClearEvent {
    return this.#events.clearText(bytes);
  }

  #decoderOf<T>(codec: RecordCodec<T>, decoders: Kind<T>['decoders'], id: number): RecordDecoder<T> | string {
    const text = this.#schemas.schemaOf(id)?.text;
    // Not kept: the schema may be registered later.
    if (text === undefined) return `${codec.name}: the schema registry has no schema ${id}`;
    const decoder = decoderFor(codec, id, text);
    decoders.set(id, decoder);
    return decoder;
  }
}

/** Appends an encoded journal record's entries to the parts of another. */
export function joinJournal(parts: Buffer[], more: Buffer): void {
  joinEntries(parts, more, PREFIX_BYTES);
}

/** Returns a reader for records written with this schema, or the reason why there is none. */
function decoderFor<T>(codec: RecordCodec<T>, id: number, text: string): RecordDecoder<T> | string {
  try {
    const name = fullNameOf(JSON.parse(text));
    // Avro would accept it: it reads records of another name as ours wherever the fields happen to fit.
    if (name !== codec.name) return `${codec.name}: schema ${id} is ${name}, another kind of record`;
    return codec.decoder(text);
  } catch (error) {
    return `${codec.name}: schema ${id} cannot be converted to the current schema: ${beginningOf(error)}`;
  }
}

function read<T>(name: string, decoder: RecordDecoder<T>, bytes: Buffer): T {
  try {
    return decoder.decode(bytes, PREFIX_BYTES);
  } catch (error) {
    throw new Error(`${name}: the record cannot be read: ${beginningOf(error)}`);
  }
}

/** Returns the beginning of avsc's message, which may repeat a whole schema. */
function beginningOf(error: unknown): string {
  return errorLine(error).slice(0, 200);
}

function fullNameOf(schema: { readonly name?: string; readonly namespace?: string } | null): string {
  const { name = 'without a name', namespace } = schema ?? {};
  return namespace === undefined || namespace === '' || name.includes('.') ? name : `${namespace}.${name}`;
}

function idIn(ids: ReadonlyMap<string, number>, subject: string): number {
  const id = ids.get(subject);
  if (id === undefined) throw new Error(`${subject} has no schema id`);
  return id;
}
