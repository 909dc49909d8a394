import avro from 'avsc';

/** avsc's write position. Not among its published types. */
interface Tap {
  readonly buf: Buffer;
  pos: number;
}

/** Up to this length, writing character by character is faster than a call out of JavaScript. */
const BY_CHARACTER_MAX = 63;
/** Up to this value the length takes two bytes. */
const TWO_BYTES_MAX = 0x1fff;
/** A UTF-16 unit takes three bytes of UTF-8 at most. */
const BYTES_PER_UNIT_MAX = 3;

const writeAny = Reflect.get(avro.types.StringType.prototype, '_write') as (
  this: avro.types.StringType,
  tap: Tap,
  value: unknown,
) => void;

/**
 * Avro's string (Avro 1.11, "Primitive Types": its length in bytes, then UTF-8), byte for byte as avsc writes it. avsc
 * asks for the length before it writes, which doubles the cost. Nearly every string is ASCII, whose length is known;
 * other strings, and those that may not fit, are left to avsc.
 */
export class OnePassString extends avro.types.StringType {
  /** Called by avsc for every string. */
  _write(tap: Tap, value: unknown): void {
    if (typeof value === 'string') {
      if (value.length <= BY_CHARACTER_MAX) {
        if (writeShort(tap, value)) return;
      } else if (value.length <= TWO_BYTES_MAX && writeLong(tap, value)) return;
    }
    writeAny.call(this, tap, value);
  }
}

function writeShort(tap: Tap, text: string): boolean {
  const { buf, pos } = tap;
  const { length } = text;
  if (pos + 1 + length > buf.length) return false;
  let units = 0;
  for (let at = 0; at < length; at += 1) {
    const unit = text.charCodeAt(at);
    units |= unit;
    buf[pos + 1 + at] = unit;
  }
  if (units > 0x7f) return false;
  // A zigzag varint, in one byte.
  buf[pos] = length * 2;
  tap.pos = pos + 1 + length;
  return true;
}

function writeLong(tap: Tap, text: string): boolean {
  const { buf, pos } = tap;
  const { length } = text;
  // Reserves room for the worst case, so that the string is always written whole.
  if (pos + 2 + length * BYTES_PER_UNIT_MAX > buf.length) return false;
  if (buf.write(text, pos + 2, 'utf8') !== length) return false;
  buf[pos] = ((length * 2) & 0x7f) | 0x80;
  buf[pos + 1] = length >> 6;
  tap.pos = pos + 2 + length;
  return true;
}
