import type { RecordDecoder } from '../../codec/record-codec.ts';

/** A batch row with unfinished records. Holds its records, or the bytes from which they are decoded one by one. */
export class LogRow<T> {
  readonly stream: number;
  readonly first: number;
  readonly count: number;
  readonly at: number;
  readonly bytes: number;
  /** The number of unfinished records. */
  left: number;
  /** Bit i = record i is done. Created when the first one is. */
  done: Uint8Array | null = null;
  /** The half being gathered will store the finished records. */
  dirty = false;
  #cursor = 0;
  #records: (T | undefined)[] | null = null;
  #blob: Buffer | null = null;
  #decoder: RecordDecoder<T> | null = null;
  #position = 0;
  #newest: T | undefined;

  constructor(stream: number, first: number, count: number, at: number, bytes: number) {
    this.stream = stream;
    this.first = first;
    this.count = count;
    this.at = at;
    this.bytes = bytes;
    this.left = count;
  }

  /** A row that was just committed: handed over without being read back. */
  withRecords(records: T[]): this {
    this.#records = records;
    return this;
  }

  /** The same for records that were encoded with the current schema; `newest`: the last of them. */
  withEncoded(blob: Buffer, decoder: RecordDecoder<T>, newest: T): this {
    this.#newest = newest;
    return this.withBytes(blob, decoder, null);
  }

  /** All records as they were encoded just now; undefined when some were taken, or another process encoded them. */
  get encoded(): { readonly bytes: Buffer; readonly newest: T } | undefined {
    if (this.#newest === undefined || !this.#blob || this.#cursor > 0) return undefined;
    return { bytes: this.#blob, newest: this.#newest };
  }

  withBytes(blob: Buffer, decoder: RecordDecoder<T>, done: Uint8Array | null): this {
    this.#blob = blob;
    this.#decoder = decoder;
    if (done) {
      this.done = Uint8Array.from(done);
      for (let index = 0; index < this.count; index += 1) if (this.isDone(index)) this.left -= 1;
    }
    return this;
  }

  isDone(index: number): boolean {
    return this.done !== null && ((this.done[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
  }

  markDone(index: number): void {
    this.left -= 1;
    // A row of one record, or with all done, needs no bits: it is deleted as a whole.
    if (this.left === 0) return;
    this.done ??= new Uint8Array((this.count + 7) >> 3);
    this.done[index >> 3] = (this.done[index >> 3] ?? 0) | (1 << (index & 7));
  }

  get exhausted(): boolean {
    return this.#cursor >= this.count;
  }

  /** The index of the record that `next` returns. */
  get cursor(): number {
    return this.#cursor;
  }

  skipRest(): void {
    this.#cursor = this.count;
    this.#blob = null;
  }

  /**
   * Returns the next record, done or not. Throws when it cannot be decoded: then the rest of the row cannot be either.
   */
  next(): T {
    const index = this.#cursor;
    if (this.#records) {
      const record = this.#records[index] as T;
      this.#records[index] = undefined;
      this.#cursor += 1;
      return record;
    }
    if (!this.#decoder || !this.#blob) throw new Error('a batch row without content');
    const record = this.#decoder.decode(this.#blob, this.#position);
    this.#position = this.#decoder.end;
    this.#cursor += 1;
    if (this.exhausted) this.#blob = null;
    return record;
  }
}
