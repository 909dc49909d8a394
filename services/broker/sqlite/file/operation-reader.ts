/** Reads the fields of operations in order; see OPERATION. */
export class OperationReader {
  readonly #bytes: Buffer;
  position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  u8(): number {
    return this.#bytes[this.position++] ?? 0;
  }

  u32(): number {
    const value = this.#bytes.readUInt32LE(this.position);
    this.position += 4;
    return value;
  }

  f64(): number {
    const value = this.#bytes.readDoubleLE(this.position);
    this.position += 8;
    return value;
  }

  bytes(): Buffer {
    const length = this.u32();
    const start = this.position;
    this.position += length;
    return this.#bytes.subarray(start, this.position);
  }
}
