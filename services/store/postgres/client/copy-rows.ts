import { BinaryValues } from './binary-values.ts';

/** Before the rows: the signature, no flags, no extension (PostgreSQL, COPY, "Binary Format"). */
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const END = -1;
const INITIAL_BYTES = 64 * 1024;

/**
 * Rows in the format of COPY … FROM STDIN BINARY. Each row is begun with `row`, and then has one value for each column,
 * of the column's type, in order.
 */
export class CopyRows extends BinaryValues {
  readonly #columns: number;
  #count = 0;
  /** Where the last row begins. */
  #rowAt = 0;

  constructor(columns: number) {
    super(INITIAL_BYTES);
    this.#columns = columns;
    this.length = HEADER.copy(this.bytes, 0);
  }

  /** The number of rows. */
  get count(): number {
    return this.#count;
  }

  row(): this {
    this.reserve(2);
    this.length = this.bytes.writeInt16BE(this.#columns, this.length);
    this.#rowAt = this.length;
    this.#count += 1;
    return this;
  }

  /** The bytes of the last row's values, valid until the next change. */
  get last(): Buffer {
    return this.bytes.subarray(this.#rowAt, this.length);
  }

  /** The number of bytes that are kept. */
  get size(): number {
    return this.length;
  }

  /** Returns the bytes that are kept, and keeps them no longer: the following ones are sent after them. */
  take(): Buffer {
    const bytes = Buffer.from(this.bytes.subarray(0, this.length));
    this.length = 0;
    return bytes;
  }

  /** Returns the bytes, valid until the next change. */
  end(): Buffer {
    this.reserve(2);
    return this.bytes.subarray(0, this.bytes.writeInt16BE(END, this.length));
  }
}
