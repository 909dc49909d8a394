/** Before the rows: the signature, no flags, no extension (PostgreSQL, COPY, "Binary Format"). */
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const END = -1;
const NULL = -1;
const INITIAL_BYTES = 64 * 1024;
const HIGH = 2 ** 32;

/**
 * Rows in the format of COPY … FROM STDIN BINARY. Each row is begun with `row`, and then has one value for each column,
 * of the column's type, in order. May be used again after `clear`.
 */
export class CopyRows {
  readonly #columns: number;
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #length = 0;
  #count = 0;

  constructor(columns: number) {
    this.#columns = columns;
    this.clear();
  }

  /** The number of rows. */
  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.#count = 0;
    this.#length = HEADER.copy(this.#bytes, 0);
  }

  row(): this {
    this.#reserve(2);
    this.#length = this.#bytes.writeInt16BE(this.#columns, this.#length);
    this.#count += 1;
    return this;
  }

  smallint(value: number | null): this {
    if (value === null) return this.#null();
    this.#begin(2);
    this.#length = this.#bytes.writeInt16BE(value, this.#length);
    return this;
  }

  int(value: number | null): this {
    if (value === null) return this.#null();
    this.#begin(4);
    this.#length = this.#bytes.writeInt32BE(value, this.#length);
    return this;
  }

  /** A whole number from 0 to 2 to the 53rd. */
  bigint(value: number | null): this {
    if (value === null) return this.#null();
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is no bigint of hookrail's`);
    this.#begin(8);
    this.#bytes.writeUInt32BE(Math.floor(value / HIGH), this.#length);
    this.#length = this.#bytes.writeUInt32BE(value % HIGH, this.#length + 4);
    return this;
  }

  float8(value: number | null): this {
    if (value === null) return this.#null();
    this.#begin(8);
    this.#length = this.#bytes.writeDoubleBE(value, this.#length);
    return this;
  }

  bytea(value: Uint8Array | null): this {
    if (value === null) return this.#null();
    this.#begin(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  /** PostgreSQL has no U+0000 in a text: it is written as U+FFFD. */
  text(value: string | null): this {
    if (value === null) return this.#null();
    const storable = value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
    const length = Buffer.byteLength(storable);
    this.#begin(length);
    this.#bytes.write(storable, this.#length);
    this.#length += length;
    return this;
  }

  /** Returns the bytes, valid until the next change. */
  end(): Buffer {
    this.#reserve(2);
    return this.#bytes.subarray(0, this.#bytes.writeInt16BE(END, this.#length));
  }

  #null(): this {
    this.#reserve(4);
    this.#length = this.#bytes.writeInt32BE(NULL, this.#length);
    return this;
  }

  /** Writes a value's length; as many bytes follow. */
  #begin(length: number): void {
    this.#reserve(4 + length);
    this.#length = this.#bytes.writeInt32BE(length, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
