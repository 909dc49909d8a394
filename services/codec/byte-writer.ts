import type { Type } from 'avsc';

const INITIAL_BYTES = 64 * 1024;
/** The most bytes that one character of a JavaScript string takes in UTF-8. */
const UTF8_BYTES_MAX = 3;

/** A growing buffer for a sequence of records, so that a batch needs no buffer per record. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  /** `reused`: a buffer that is no longer needed, to be overwritten. */
  constructor(reused?: ArrayBuffer) {
    this.#bytes = reused ? Buffer.from(reused) : Buffer.from(new ArrayBuffer(INITIAL_BYTES));
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** The whole buffer; bytes from `length` on mean nothing. It may be replaced by the next write. */
  get buffer(): ArrayBuffer {
    return this.#bytes.buffer as ArrayBuffer;
  }

  /** The bytes written so far: a view, valid until the next write. */
  get written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Appends an Avro value. Throws when the value does not fit the type; then nothing is appended. */
  avro(type: Type, value: unknown): void {
    let end = type.encode(value, this.#bytes, this.#length);
    if (end < 0) {
      // A negative result is the number of bytes that were missing.
      this.#reserve(-end + this.#bytes.length - this.#length);
      end = type.encode(value, this.#bytes, this.#length);
    }
    this.#length = end;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Appends text in UTF-8, without its length. */
  text(value: string): void {
    this.#reserve(value.length * UTF8_BYTES_MAX);
    this.#length += this.#bytes.write(value, this.#length);
  }

  /** Writes a length of four bytes at `at`, where one was left open. */
  patchU32(at: number, value: number): void {
    this.#bytes.writeUInt32LE(value, at);
  }

  /** Drops everything written after `length`. */
  truncate(length: number): void {
    this.#length = length;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = Buffer.from(new ArrayBuffer(Math.max(this.#bytes.length * 2, this.#length + more)));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
