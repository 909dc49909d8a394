import type { IHeaders, KafkaMessage } from 'kafkajs';

/** Offsets within a batch, by Kafka's documentation ("Record Batch"). */
const ATTRIBUTES_AT = 21;
const FIRST_TIMESTAMP_AT = 27;
const MAX_TIMESTAMP_AT = 35;
const PRODUCER_ID_AT = 43;
const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;

/** A message in kafkajs's form, with the fields that this decoder adds. */
export type FetchedMessage = Omit<KafkaMessage, 'headers' | 'size'> & {
  readonly headers: IHeaders;
  /** kafkajs does not pass these to readers, but counts them as read. */
  readonly isControlRecord: boolean;
  readonly batchContext: { readonly producerId: string; readonly inTransaction: boolean };
  readonly unreadable?: UnreadableBatch;
  readonly isOutOfRange?: true;
};

/** A batch that cannot be read. One message represents all of it; its value is the batch, or its beginning. */
export interface UnreadableBatch {
  readonly lastOffset: number;
  readonly reason: 'undecodable' | 'too_large';
  readonly cause: string;
}

/** Reads the records of one batch in order. Throws where one exceeds the end. */
export class RecordReader {
  readonly #bytes: Buffer;
  readonly #base: bigint;
  readonly #attributes: number;
  readonly #firstTimestamp: bigint;
  /** LogAppendTime is one for the whole batch. */
  readonly #appendedAt: string | null;
  readonly #batchContext: FetchedMessage['batchContext'];
  #at = 0;

  /** `bytes`: the records, decompressed. `batch`: the batch with its header. */
  constructor(bytes: Buffer, batch: Buffer) {
    this.#bytes = bytes;
    this.#base = batch.readBigInt64BE(0);
    this.#attributes = batch.readInt16BE(ATTRIBUTES_AT);
    this.#firstTimestamp = batch.readBigInt64BE(FIRST_TIMESTAMP_AT);
    this.#appendedAt =
      (this.#attributes & LOG_APPEND_TIME) > 0 ? `${batch.readBigInt64BE(MAX_TIMESTAMP_AT)}` : null;
    this.#batchContext = {
      producerId: `${batch.readBigInt64BE(PRODUCER_ID_AT)}`,
      inTransaction: (this.#attributes & TRANSACTIONAL) > 0,
    };
  }

  next(): FetchedMessage {
    const length = this.#varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length)
      throw new Error('a record extends beyond the end of its batch');
    // The record's own attributes are unused.
    this.#at += 1;
    const timestampDelta = this.#varlong();
    const offsetDelta = this.#varint();
    const key = this.#field();
    const value = this.#field();
    const headers = this.#headers();
    if (this.#at !== end) throw new Error('a record is shorter or longer than its length field says');
    return {
      offset: `${this.#base + BigInt(offsetDelta)}`,
      timestamp: this.#appendedAt ?? `${this.#firstTimestamp + timestampDelta}`,
      key,
      value,
      headers,
      attributes: this.#attributes,
      isControlRecord: false,
      batchContext: this.#batchContext,
    };
  }

  /** Repeated headers become an array, as in kafkajs. */
  #headers(): IHeaders {
    const headers: IHeaders = {};
    for (let left = this.#varint(); left > 0; left -= 1) {
      const name = this.#field()?.toString('utf8') ?? '';
      const value = this.#field() ?? undefined;
      const earlier = Object.hasOwn(headers, name) ? headers[name] : undefined;
      // A header may be called __proto__.
      Object.defineProperty(headers, name, {
        value: earlier === undefined || value === undefined ? value : [earlier, value].flat(),
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
    return headers;
  }

  #field(): Buffer | null {
    const length = this.#varint();
    if (length < 0) return null;
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Error('a field extends beyond the end of its batch');
    const field = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return field;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    throw new Error('a number of a record is too long');
  }

  #varlong(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value += BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return (value >> 1n) ^ -(value & 1n);
    }
    throw new Error('a timestamp of a record is too long');
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('a record extends beyond the end of its batch');
    this.#at += 1;
    return byte;
  }
}
