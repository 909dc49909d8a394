/**
 * Mappings of Avro's logical types: `decimal` ↔ a plain decimal string, `timestamp-millis` ↔ milliseconds (RFC 3339
 * text is accepted too when writing). `uuid` is a string whose form the catalog's checks verify, so Avro need not.
 *
 * These are the types of hookrail's own schemas. services/codec/written/resolution.ts reads what others wrote.
 */
import avro from 'avsc';
import { canonicalDecimal } from '../domain/text/decimal.ts';
import { ITEMS_MAX, type Readable, type Tap } from './reading.ts';

/** More bytes than `decimal(38)` can need; a longer one is refused before it costs time. */
const DECIMAL_BYTES_MAX = 64;

/** The bytes are well-formed but hold a value that our schema cannot: the producer's fault, not the transport's. */
export class NotRepresentable extends Error {
  override readonly name = 'NotRepresentable';
}

interface DecimalSchema {
  readonly scale?: number;
}

export class Decimal extends avro.types.LogicalType {
  readonly scale: number;

  constructor(schema: avro.Schema, options?: unknown) {
    super(schema, options);
    this.scale = (schema as DecimalSchema).scale ?? 0;
  }

  protected override _fromValue(bytes: Buffer | undefined): string {
    return decimalText(bytes, this.scale);
  }

  protected override _toValue(value: unknown): Buffer | undefined {
    const decimal = typeof value === 'string' ? canonicalDecimal(value) : undefined;
    if (decimal === undefined) return undefined;
    const point = decimal.indexOf('.');
    const fraction = point === -1 ? '' : decimal.slice(point + 1);
    if (fraction.length > this.scale) return undefined;
    const whole = point === -1 ? decimal : decimal.slice(0, point);
    return toBytes(BigInt(whole + fraction.padEnd(this.scale, '0')));
  }

  protected override _resolve(writer: avro.Type): ((value: string) => string) | undefined {
    return writer instanceof Decimal && writer.scale === this.scale ? (text) => text : undefined;
  }
}

/** Returns the text of an encoded decimal. */
export function decimalText(bytes: Buffer | undefined, scale: number): string {
  // Undefined: the record was cut off here, which the reader reports afterwards.
  if (bytes === undefined) return '0';
  if (bytes.length > DECIMAL_BYTES_MAX) {
    throw new NotRepresentable(
      `is a decimal of ${bytes.length} bytes: must have at most ${DECIMAL_BYTES_MAX}`,
    );
  }
  return toText(toInteger(bytes), scale);
}

/** Big-endian two's complement (Avro 1.12, "Decimal"). */
function toInteger(bytes: Buffer): bigint {
  if (bytes.length === 0) return 0n;
  if (bytes.length <= 6) return BigInt(bytes.readIntBE(0, bytes.length));
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
}

/** The fewest bytes that hold the value and its sign. */
function toBytes(value: bigint): Buffer {
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length += 1;
  const digits = BigInt.asUintN(length * 8, value).toString(16);
  return Buffer.from(digits.padStart(length * 2, '0'), 'hex');
}

function toText(value: bigint, scale: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return canonicalDecimal(sign + text) ?? sign + text;
}

export class TimestampMillis extends avro.types.LogicalType {
  protected override _fromValue(value: number): number {
    return value;
  }

  protected override _toValue(value: unknown): number | undefined {
    const time = typeof value === 'string' ? Date.parse(value) : value;
    return Number.isSafeInteger(time) ? (time as number) : undefined;
  }

  protected override _resolve(writer: avro.Type): ((value: number) => number) | undefined {
    return writer instanceof TimestampMillis ? (value) => value : undefined;
  }
}

/**
 * An array that does not trust the record's count. avsc loops as often as the count says, past the record's end: six
 * bytes could ask for 2^40 items and exhaust the process.
 */
class BoundedArray extends avro.types.ArrayType {
  _read(tap: Tap): unknown[] {
    const items = this.itemsType as unknown as Readable;
    const read: unknown[] = [];
    for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
      // A negative count is followed by the block's size in bytes.
      if (count < 0) tap.skipLong();
      boundItems(read.length + Math.abs(count));
      for (let left = Math.abs(count); left > 0; left -= 1) read.push(items._read(tap));
    }
    return read;
  }

  _skip(tap: Tap): void {
    const items = this.itemsType as unknown as Readable;
    let seen = 0;
    for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
      if (count < 0) tap.skipLong();
      seen += Math.abs(count);
      boundItems(seen);
      for (let left = Math.abs(count); left > 0; left -= 1) items._skip(tap);
    }
  }
}

function boundItems(count: number): void {
  if (count > ITEMS_MAX) throw new RangeError(`an array has more than ${ITEMS_MAX} items`);
}

/** Returns the type of one of our event schemas. Throws for an invalid schema. */
export function avroType(schema: unknown): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema, {
    // Values of a union are plain, not wrapped in an object that names the branch.
    wrapUnions: 'never',
    omitRecordMethods: true,
    logicalTypes: { decimal: Decimal, 'timestamp-millis': TimestampMillis },
    typeHook: (part, options) => {
      const kind = (part as { readonly type?: unknown }).type;
      return kind === 'array' ? new BoundedArray(part, options) : undefined;
    },
  });
}
