/** Reads the fields of operations in order; see OPERATION. */
export class OperationReader {
  readonly #bytes: Buffer;
  position = 0;

  constructor(buffer: ArrayBuffer) {
    this.#bytes = Buffer.from(buffer);
  }

  u8(): number {
    return this.#bytes[this.position++] ?? 0;
  }

  f64(): number {
    const value = this.#bytes.readDoubleLE(this.position);
    this.position += 8;
    return value;
  }

  bytes(): Buffer {
    const start = this.position + 4;
    this.position = start + this.#bytes.readUInt32LE(this.position);
    return this.#bytes.subarray(start, this.position);
  }
}
