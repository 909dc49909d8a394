import { crc32c } from '@node-rs/crc32';
import type { Headers, HeaderValue } from './record-sender.ts';

/** A record in a batch. */
export interface BatchedRecord {
  readonly key: Buffer | null;
  /** The parts of the value, in order; null = no value (a tombstone). */
  readonly value: readonly Buffer[] | null;
  readonly headers: Headers | undefined;
}

/** Bytes of a batch before its records: from the base offset to the count of records. */
const HEADER_BYTES = 61;
/** Bytes not included in the batch's length: base offset and the length itself. */
const UNCOUNTED_BYTES = 12;
const CRC_AT = 17;
const CHECKED_FROM = 21;
const MAGIC = 2;
const NONE = -1;

/** The sizes of a batch before it is written: each record's own length, and the total. */
export interface MeasuredBatch {
  readonly records: readonly BatchedRecord[];
  readonly lengths: readonly number[];
  readonly bytes: number;
}

/** Measures the batch that `writeBatch` will write. */
export function measureBatch(records: readonly BatchedRecord[]): MeasuredBatch {
  const lengths = records.map(lengthOf);
  const bytes = lengths.reduce((sum, length) => sum + sizeOfVarInt(length) + length, HEADER_BYTES);
  return { records, lengths, bytes };
}

/**
 * Writes a record batch, version 2, not idempotent, not compressed, all records with one timestamp (Kafka's
 * documentation, "Record Batch"; KIP-98). Returns where it ends. kafkajs's own way allocates about ten buffers for each
 * record, and copies every byte as often.
 */
export function writeBatch(batch: MeasuredBatch, timestamp: number, into: Buffer, at: number): number {
  const { records, lengths, bytes } = batch;
  const time = BigInt(timestamp);
  into.fill(0, at, at + 8);
  into.writeInt32BE(bytes - UNCOUNTED_BYTES, at + 8);
  into.writeInt32BE(NONE, at + 12);
  into.writeInt8(MAGIC, at + 16);
  into.writeInt16BE(0, at + CHECKED_FROM);
  into.writeInt32BE(records.length - 1, at + 23);
  into.writeBigInt64BE(time, at + 27);
  into.writeBigInt64BE(time, at + 35);
  // No producer id, epoch or sequence: all bits set.
  into.fill(0xff, at + 43, at + 57);
  into.writeInt32BE(records.length, at + 57);
  let end = at + HEADER_BYTES;
  for (let index = 0; index < records.length; index += 1) {
    end = writeRecord(records[index] as BatchedRecord, lengths[index] ?? 0, index, into, end);
  }
  into.writeUInt32BE(crc32c(into.subarray(at + CHECKED_FROM, end)), at + CRC_AT);
  return end;
}

/** Larger than any index in a batch: its variable-length number is the longest. */
const INDEX_MAX = 2 ** 16;

/** Returns the most bytes that a record takes in a batch, headers and lengths included. */
export function bytesInBatch(record: {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Headers;
}): number {
  const { key, value, headers } = record;
  const length = lengthOf({ key, value: value && [value], headers }, INDEX_MAX);
  return sizeOfVarInt(length) + length;
}

/** Returns the bytes of a record after its length. */
function lengthOf({ key, value, headers }: BatchedRecord, offsetDelta: number): number {
  const fixed = 2 + sizeOfVarInt(offsetDelta);
  const valueBytes = value === null ? -1 : bytesOf(value);
  let length = fixed + sizeOfField(key === null ? -1 : key.length) + sizeOfField(valueBytes);
  if (headers === undefined) return length + 1;
  let count = 0;
  for (const name in headers) {
    const given = headers[name] ?? null;
    for (const value of valuesOf(given)) {
      count += 1;
      length +=
        sizeOfField(Buffer.byteLength(name)) + sizeOfField(value === null ? -1 : Buffer.byteLength(value));
    }
  }
  return length + sizeOfVarInt(count);
}

function writeRecord(record: BatchedRecord, length: number, index: number, into: Buffer, at: number): number {
  const { key, value, headers } = record;
  let end = writeVarInt(length, into, at);
  into[end++] = 0;
  // All records have the batch's timestamp.
  into[end++] = 0;
  end = writeVarInt(index, into, end);
  end = writeVarInt(key === null ? -1 : key.length, into, end);
  if (key !== null) end += key.copy(into, end);
  end = writeVarInt(value === null ? -1 : bytesOf(value), into, end);
  if (value !== null) for (const part of value) end += part.copy(into, end);
  if (headers === undefined) {
    into[end++] = 0;
    return end;
  }
  const names = Object.keys(headers);
  let count = 0;
  for (const name of names) count += valuesOf(headers[name] ?? null).length;
  end = writeVarInt(count, into, end);
  for (const name of names) {
    for (const value of valuesOf(headers[name] ?? null)) {
      end = writeText(name, into, end);
      end = writeHeaderValue(value, into, end);
    }
  }
  return end;
}

function valuesOf(given: HeaderValue | readonly HeaderValue[]): readonly HeaderValue[] {
  return Array.isArray(given) ? given : [given as HeaderValue];
}

function writeHeaderValue(value: HeaderValue, into: Buffer, at: number): number {
  if (typeof value === 'string') return writeText(value, into, at);
  const end = writeVarInt(value === null ? -1 : value.length, into, at);
  return value === null ? end : end + value.copy(into, end);
}

function writeText(text: string, into: Buffer, at: number): number {
  const start = writeVarInt(Buffer.byteLength(text), into, at);
  return start + into.write(text, start);
}

function bytesOf(parts: readonly Buffer[]): number {
  let bytes = 0;
  for (const part of parts) bytes += part.length;
  return bytes;
}

/** Returns the bytes of a field with its length before it; −1 = null, which is a length only. */
function sizeOfField(bytes: number): number {
  return sizeOfVarInt(bytes) + Math.max(0, bytes);
}

/** Writes a zigzag integer, seven bits a byte, as in Protocol Buffers. */
function writeVarInt(value: number, into: Buffer, at: number): number {
  let left = ((value << 1) ^ (value >> 31)) >>> 0;
  let end = at;
  while (left > 0x7f) {
    into[end++] = (left & 0x7f) | 0x80;
    left >>>= 7;
  }
  into[end++] = left;
  return end;
}

function sizeOfVarInt(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
  return zigzag === 0 ? 1 : Math.ceil((32 - Math.clz32(zigzag)) / 7);
}
