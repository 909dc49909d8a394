import { crc32c } from '@node-rs/crc32';
import { messageOf } from '../../messages/error-message.ts';
import { TooLarge } from './decompress.ts';
import { decompress, LATER } from './decompressor.ts';
import { type FetchedMessage, RecordReader } from './record-reader.ts';

/**
 * The most that a compressed batch may decompress to, which limits the memory that a small hostile batch can take.
 * Clients limit their batches before compression, to at most 1 MiB by default.
 */
export const BATCH_BYTES_MAX = 16 * 1024 * 1024;
/** The most records in one batch. Java's client fills 1 MiB with at most a third of that. */
const BATCH_RECORDS_MAX = 250_000;
/** The approximate memory of a record besides its bytes. */
const RECORD_COST_BYTES = 200;
/** An unreadable batch is kept up to this size. */
const KEPT_BYTES_MAX = 512 * 1024;

/** Offsets within a batch, by Kafka's documentation ("Record Batch"). */
const LENGTH_AT = 8;
const UNCOUNTED_BYTES = 12;
const MAGIC_AT = 16;
const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const LAST_OFFSET_DELTA_AT = 23;
const MAX_TIMESTAMP_AT = 35;
const PRODUCER_ID_AT = 43;
const COUNT_AT = 57;
const HEADER_BYTES = 61;
const MAGIC = 2;

const CODEC_MASK = 0x07;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
/** The type of an abort marker, the second int16 of a control record's key. */
const ABORT = 0;

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
}

export interface RecordSet {
  /** The most that a batch of one record may decompress to: most bombs are one record, and are refused sooner by this. */
  readonly recordBytesMax: number;
  readonly bytes: Buffer;
  /** Where the fetch began. Records before it are omitted: brokers send batches whole. */
  readonly fetchOffset: bigint;
  /** Sorted by first offset, ascending. */
  readonly aborted: readonly AbortedTransaction[];
}

/** The memory that one fetch response may still use; the rest is fetched again. */
export interface Budget {
  bytes: number;
}

/**
 * Reads the batches of one partition. Records of aborted transactions and control records are omitted. A batch that
 * cannot be read (corrupt, unknown codec, too large) becomes one message with the reason, and does not hold up the
 * next.
 *
 * Offsets without a record must not be waited for: unless nothing was read, the result ends with a control record at
 * the last offset that the batches cover. Reading stops when the budget is used up, but not before the first batch, and
 * before a batch that is still being decompressed: it is fetched again.
 */
export async function readRecordSet(
  { bytes, recordBytesMax, fetchOffset, aborted }: RecordSet,
  budget: Budget,
): Promise<FetchedMessage[]> {
  const messages: FetchedMessage[] = [];
  const transactions = new Transactions(aborted);
  let covered: bigint | null = null;
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const end = at + UNCOUNTED_BYTES + bytes.readInt32BE(at + LENGTH_AT);
    // The broker cuts off the last batch where the response is full.
    if (end > bytes.length || end < at + HEADER_BYTES) break;
    if (covered !== null && budget.bytes <= 0) break;
    const batch = bytes.subarray(at, end);
    const base = batch.readBigInt64BE(0);
    const last = base + BigInt(lastOffsetDelta(batch));
    if (last >= fetchOffset) {
      const from = base > fetchOffset ? base : fetchOffset;
      try {
        const read = readBatch(batch, base, { budget, recordBytesMax }, transactions);
        if (read === LATER) break;
        for (const message of read instanceof Promise ? await read : read) {
          if (BigInt(message.offset) >= from) messages.push(message);
        }
      } catch (error) {
        messages.push(unreadable(batch, from, Number(last), error));
      }
      covered = last;
    }
    at = end;
  }
  if (covered === null) return [];
  // When no record is left, the first message shows where the fetch began.
  if (messages.length === 0 && covered > fetchOffset) messages.push(controlRecord(fetchOffset));
  if (messages.at(-1)?.offset !== `${covered}`) messages.push(controlRecord(covered));
  return messages;
}

/**
 * Returns how far a batch reaches. When its checksum is wrong, this number may be too: it is trusted only if the count
 * of records agrees, so that no record behind the batch is skipped.
 */
function lastOffsetDelta(batch: Buffer): number {
  if (batch.readInt8(MAGIC_AT) !== MAGIC) return 0;
  const delta = batch.readInt32BE(LAST_OFFSET_DELTA_AT);
  return isIntact(batch) || delta + 1 === batch.readInt32BE(COUNT_AT) ? Math.max(0, delta) : 0;
}

const isIntact = (batch: Buffer): boolean =>
  crc32c(batch.subarray(ATTRIBUTES_AT)) === batch.readUInt32BE(CRC_AT);

/** The transactions that are aborted at the read position. */
class Transactions {
  readonly #coming: AbortedTransaction[];
  readonly #aborted = new Set<bigint>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#coming = [...aborted].sort((a, b) => Number(a.firstOffset - b.firstOffset));
  }

  /** Returns whether a batch's producer aborted its records. */
  isAborted(producerId: bigint, last: bigint): boolean {
    for (let next = this.#coming[0]; next && next.firstOffset <= last; next = this.#coming[0]) {
      this.#aborted.add(next.producerId);
      this.#coming.shift();
    }
    return this.#aborted.has(producerId);
  }

  ended(producerId: bigint): void {
    this.#aborted.delete(producerId);
  }
}

function readBatch(
  batch: Buffer,
  base: bigint,
  limits: { readonly budget: Budget; readonly recordBytesMax: number },
  transactions: Transactions,
): FetchedMessage[] | typeof LATER | Promise<FetchedMessage[]> {
  const magic = batch.readInt8(MAGIC_AT);
  if (magic !== MAGIC) throw new Error(`the batch has format ${magic}, which brokers no longer write`);
  const attributes = batch.readInt16BE(ATTRIBUTES_AT);
  const last = base + BigInt(batch.readInt32BE(LAST_OFFSET_DELTA_AT));
  const producerId = batch.readBigInt64BE(PRODUCER_ID_AT);
  const isAborted = transactions.isAborted(producerId, last);
  if (!isIntact(batch)) throw new Error('the batch is corrupt: its checksum is wrong');
  const isControl = (attributes & CONTROL) > 0;
  if (isAborted && !isControl && (attributes & TRANSACTIONAL) > 0) return [];
  const count = batch.readInt32BE(COUNT_AT);
  if (count > BATCH_RECORDS_MAX)
    throw new Error(`the batch has ${count} records, at most ${BATCH_RECORDS_MAX} are read`);
  const read = (records: Buffer) => {
    limits.budget.bytes -= records.length + count * RECORD_COST_BYTES;
    const reader = new RecordReader(records, batch);
    const messages = Array.from({ length: count }, () => reader.next());
    if (!isControl) return messages;
    const isAbort = ({ key }: FetchedMessage) =>
      key !== null && key.length >= 4 && key.readInt16BE(2) === ABORT;
    if (messages.some(isAbort)) transactions.ended(producerId);
    return [];
  };
  const bytesMax = count === 1 ? Math.min(limits.recordBytesMax, BATCH_BYTES_MAX) : BATCH_BYTES_MAX;
  const records = decompress(attributes & CODEC_MASK, batch.subarray(HEADER_BYTES), bytesMax);
  if (records === LATER) return LATER;
  return records instanceof Promise ? records.then(read) : read(records);
}

function unreadable(batch: Buffer, from: bigint, lastOffset: number, error: unknown): FetchedMessage {
  const kept = Buffer.from(batch.subarray(0, KEPT_BYTES_MAX));
  const cut =
    kept.length < batch.length ? ` (the first ${kept.length} of ${batch.length} bytes are kept)` : '';
  return {
    ...controlRecord(from),
    value: kept,
    timestamp: `${batch.readBigInt64BE(MAX_TIMESTAMP_AT)}`,
    isControlRecord: false,
    unreadable: {
      lastOffset,
      reason: error instanceof TooLarge ? 'too_large' : 'undecodable',
      cause: `${messageOf(error)}${cut}`,
    },
  };
}

/** Returns a message that the log has nothing at this offset: its records were deleted, or the log was replaced. */
export function outOfRange(offset: bigint): FetchedMessage {
  return { ...controlRecord(offset), isControlRecord: false, isOutOfRange: true };
}

function controlRecord(offset: bigint): FetchedMessage {
  return {
    offset: `${offset}`,
    timestamp: '-1',
    key: null,
    value: null,
    headers: {},
    attributes: CONTROL,
    isControlRecord: true,
    batchContext: { producerId: '-1', inTransaction: false },
  };
}
