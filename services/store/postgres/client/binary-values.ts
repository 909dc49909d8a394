import { packUuidInto } from '../../../sqlite/ids.ts';
import { idBytes, UUID_BYTES } from './packed-id.ts';

const NULL = -1;
const HIGH = 2 ** 32;

/**
 * Values in PostgreSQL's binary format, one after the other, each after its length: as rows of COPY and the elements of an
 * array have them.
 */
export class BinaryValues {
  protected bytes: Buffer;
  protected length = 0;

  /** `bytes`: room for values at first. */
  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }

  smallint(value: number | null): this {
    if (value === null) return this.#null();
    this.#begin(2);
    this.length = this.bytes.writeInt16BE(value, this.length);
    return this;
  }

  int(value: number | null): this {
    if (value === null) return this.#null();
    this.#begin(4);
    this.length = this.bytes.writeInt32BE(value, this.length);
    return this;
  }

  /** A whole number from 0 to 2 to the 53rd. */
  bigint(value: number | null): this {
    if (value === null) return this.#null();
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is no bigint of hookrail's`);
    this.#begin(8);
    this.bytes.writeUInt32BE(Math.floor(value / HIGH), this.length);
    this.length = this.bytes.writeUInt32BE(value % HIGH, this.length + 4);
    return this;
  }

  float8(value: number | null): this {
    if (value === null) return this.#null();
    this.#begin(8);
    this.length = this.bytes.writeDoubleBE(value, this.length);
    return this;
  }

  bytea(value: Uint8Array | null): this {
    if (value === null) return this.#null();
    this.#begin(value.length);
    this.bytes.set(value, this.length);
    this.length += value.length;
    return this;
  }

  /** An id, as bytes (packed-id.ts). A UUID is written without a buffer of its own. */
  id(value: string | null): this {
    if (value === null) return this.#null();
    this.reserve(4 + UUID_BYTES);
    if (!packUuidInto(value, this.bytes, this.length + 4)) return this.bytea(idBytes(value));
    this.length = this.bytes.writeInt32BE(UUID_BYTES, this.length) + UUID_BYTES;
    return this;
  }

  /** The bytes of a text, for a column of bytes. */
  utf8(value: string): this {
    const length = Buffer.byteLength(value);
    this.#begin(length);
    this.bytes.write(value, this.length);
    this.length += length;
    return this;
  }

  /** PostgreSQL has no U+0000 in a text: it is written as U+FFFD. */
  text(value: string | null): this {
    if (value === null) return this.#null();
    return this.utf8(value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value);
  }

  /** Makes room for this many bytes more. */
  protected reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.length + more));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  #null(): this {
    this.reserve(4);
    this.length = this.bytes.writeInt32BE(NULL, this.length);
    return this;
  }

  /** Writes a value's length; as many bytes follow. */
  #begin(length: number): void {
    this.reserve(4 + length);
    this.length = this.bytes.writeInt32BE(length, this.length);
  }
}
