import avro, { type Type } from 'avsc';
import { ByteWriter } from './byte-writer.ts';
import { internalSchema } from './internal-schemas.ts';

/** Writes records of one kind with the current schema, and reads those written with this or an earlier one. */
export interface RecordCodec<T> {
  /** The Avro record's full name. */
  readonly name: string;
  /** The current schema as JSON, complete in itself: store it beside the records written with it. */
  readonly schema: string;
  /** Appends a record. Throws, naming the field, when it does not fit the schema; then nothing is appended. */
  encode(value: T, into: ByteWriter): void;
  toBuffer(value: T): Buffer;
  /**
   * Returns a reader for records written with `writerSchema` (default: the current one). Throws when the schemas are
   * incompatible.
   */
  decoder(writerSchema?: string): RecordDecoder<T>;
}

export interface RecordDecoder<T> {
  /** Reads the record at `position`; `end` is then the position of the next. Throws on malformed bytes. */
  decode(bytes: Buffer, position: number): T;
  readonly end: number;
}

/**
 * Makes a codec from files in schemas/internal: the last is the record itself, the others are the schemas it refers
 * to. `toAvro` and `fromAvro` convert between the domain's shape and the schema's.
 */
export function recordCodec<T>(
  files: readonly string[],
  toAvro: (value: T) => unknown,
  fromAvro: (value: never) => T,
): RecordCodec<T> {
  // Compiled when it is used first: each thread has codecs that it never uses.
  let compiled: Type | undefined;
  const typeOf = () => {
    compiled ??= readType(files);
    return compiled;
  };
  let text: string | undefined;
  const scratch = new ByteWriter();
  const schemaOf = () => {
    text ??= JSON.stringify(typeOf().schema({ exportAttrs: true, noDeref: false }));
    return text;
  };
  const encode = (value: T, into: ByteWriter) => into.avro(typeOf(), toAvro(value));
  return {
    get name() {
      return typeOf().name ?? '';
    },
    get schema() {
      return schemaOf();
    },
    encode,
    toBuffer(value) {
      scratch.truncate(0);
      encode(value, scratch);
      return Buffer.from(scratch.written);
    },
    decoder(writerSchema) {
      return new AvroDecoder(typeOf(), writerSchema === schemaOf() ? undefined : writerSchema, fromAvro);
    },
  };
}

/** Returns a reader that gives each record as bytes in the current schema, which it copies where they are written with it. */
export function encodedDecoder<T>(codec: RecordCodec<T>, writerSchema: string): RecordDecoder<Buffer> {
  const decoder = codec.decoder(writerSchema);
  return {
    get end() {
      return decoder.end;
    },
    decode(bytes, position) {
      const record = decoder.decode(bytes, position);
      if (writerSchema !== codec.schema) return codec.toBuffer(record);
      return Buffer.from(bytes.subarray(position, decoder.end));
    },
  };
}

class AvroDecoder<T> implements RecordDecoder<T> {
  end = 0;
  readonly #type: Type;
  readonly #resolver: ReturnType<Type['createResolver']> | undefined;
  readonly #fromAvro: (value: never) => T;

  constructor(type: Type, writerSchema: string | undefined, fromAvro: (value: never) => T) {
    this.#type = type;
    this.#fromAvro = fromAvro;
    this.#resolver = writerSchema
      ? type.createResolver(avro.Type.forSchema(JSON.parse(writerSchema)))
      : undefined;
  }

  decode(bytes: Buffer, position: number): T {
    const { value, offset } = this.#type.decode(bytes, position, this.#resolver);
    if (offset < 0) throw new Error(`${this.#type.name}: the record at byte ${position} is cut short`);
    this.end = offset;
    return this.#fromAvro(value as never);
  }
}

function readType(files: readonly string[]): Type {
  const registry: Record<string, Type> = {};
  let type: Type | undefined;
  for (const file of files) {
    type = avro.Type.forSchema(internalSchema(file), { registry });
  }
  if (!type) throw new Error('a codec needs at least one schema file');
  return type;
}

/** Returns a Buffer over the same memory: Avro writes only Buffers as bytes. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
