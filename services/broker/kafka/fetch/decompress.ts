import { gunzipSync } from 'node:zlib';
import { Decompress } from 'fzstd';
import { decompressFrameSync } from 'lz4-napi';
import snappy from 'snappyjs';
import { messageOf } from '../../../messages/error-message.ts';

/** The codecs of Kafka's record batches, by the number in a batch's attributes. */
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

/**
 * Decompresses the records of a batch. Throws when the codec is unknown, the bytes are not of that codec, or the result
 * would exceed `maxBytes`: memory is bounded by that, however small the input is.
 */
export function decompressNow(codec: number, bytes: Buffer, maxBytes: number): Buffer {
  switch (CODECS[codec]) {
    case 'none':
      return bytes;
    case 'gzip':
      return withReason('gzip', () => gunzip(bytes, maxBytes));
    case 'snappy':
      return withReason('snappy', () => unsnappy(bytes, maxBytes));
    case 'lz4':
      return withReason('lz4', () => unlz4(bytes, maxBytes));
    case 'zstd':
      return withReason('zstd', () => unzstd(bytes, maxBytes));
    default:
      throw new Error(`the batch is compressed with an unknown codec (${codec})`);
  }
}

/** The result would exceed the limit. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

const tooLarge = (maxBytes: number) => new TooLarge(`it decompresses to more than ${maxBytes} bytes`);

function withReason(codec: string, decompressed: () => Buffer): Buffer {
  try {
    return decompressed();
  } catch (error) {
    const said = messageOf(error);
    const message = `the batch cannot be decompressed with ${codec}: ${said}`;
    throw error instanceof TooLarge ? new TooLarge(message) : new Error(message);
  }
}

function gunzip(bytes: Buffer, maxBytes: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(maxBytes);
    throw error;
  }
}

/** `\x82SNAPPY\0`, then two version numbers: the framing of Java's snappy-java. Other clients write one bare block. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const XERIAL_HEADER_BYTES = 16;

function unsnappy(bytes: Buffer, maxBytes: number): Buffer {
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return unsnappyBlock(bytes, maxBytes);
  const blocks: Buffer[] = [];
  let left = maxBytes;
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length; ) {
    const length = bytes.readInt32BE(at);
    const end = at + 4 + length;
    if (length < 0 || end > bytes.length) throw new Error('a block is cut off');
    const block = unsnappyBlock(bytes.subarray(at + 4, end), left);
    left -= block.length;
    blocks.push(block);
    at = end;
  }
  return Buffer.concat(blocks);
}

function unsnappyBlock(bytes: Buffer, maxBytes: number): Buffer {
  // Without this check the library's own error would name what is left of the limit, not the limit.
  if (snappyLength(bytes) > maxBytes) throw tooLarge(maxBytes);
  const block = snappy.uncompress(bytes, maxBytes);
  return Buffer.from(block.buffer, block.byteOffset, block.length);
}

/** Returns the decompressed length that a block declares: a varint at its start. */
function snappyLength(bytes: Buffer): number {
  let length = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[index] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) break;
  }
  return length;
}

const LZ4_MAGIC = 0x184d2204;
const LZ4_BLOCK_BYTES: Readonly<Record<number, number>> = {
  4: 64 * 1024,
  5: 256 * 1024,
  6: 1024 * 1024,
  7: 4 * 1024 * 1024,
};

function unlz4(bytes: Buffer, maxBytes: number): Buffer {
  if (lz4BytesAtMost(bytes) > maxBytes + Math.min(maxBytes, LZ4_BLOCK_BYTES_MAX)) throw tooLarge(maxBytes);
  const result = decompressFrameSync(bytes);
  if (result.length > maxBytes) throw tooLarge(maxBytes);
  return result;
}

/** The last block may be shorter than its frame's block size. */
const LZ4_BLOCK_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Returns the most that a frame can decompress to, from the headers of its blocks: the library has no limit of its own.
 * LZ4 expands a byte to at most 255, so small blocks count by their size.
 */
function lz4BytesAtMost(bytes: Buffer): number {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== LZ4_MAGIC) throw new Error('it is not an LZ4 frame');
  const flags = bytes[4] ?? 0;
  const blockMax = LZ4_BLOCK_BYTES[((bytes[5] ?? 0) >> 4) & 7];
  if (blockMax === undefined) throw new Error('the block size is not valid in LZ4');
  const blockChecksum = flags & 0x10 ? 4 : 0;
  let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  let most = 0;
  while (at + 4 <= bytes.length) {
    const word = bytes.readUInt32LE(at);
    if (word === 0) return most;
    const length = word & 0x7fffffff;
    most += word >>> 31 ? length : Math.min(blockMax, length * 255);
    at += 4 + length + blockChecksum;
  }
  return most;
}

const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_SINGLE_SEGMENT = 0x20;
const ZSTD_CHECKSUM = 0x04;
/** A window descriptor of 16 MiB. */
const ZSTD_WINDOW_MAX = (24 - 10) << 3;

function unzstd(bytes: Buffer, maxBytes: number): Buffer {
  const parts: Uint8Array[] = [];
  let length = 0;
  const stream = new Decompress((part) => {
    length += part.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    // The library uses its buffers again.
    parts.push(part.slice());
  });
  stream.push(withBoundedWindow(bytes, maxBytes), true);
  return Buffer.concat(parts, length);
}

/**
 * Limits the window that a frame's header names, which may be 2 GB and which the library allocates. A match never
 * reaches back further than the decompressed data, so a window of 16 MiB, which is at least `maxBytes`, loses nothing.
 */
function withBoundedWindow(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== ZSTD_MAGIC) throw new Error('it is not a zstd frame');
  const flags = bytes[4] ?? 0;
  const isSingle = (flags & ZSTD_SINGLE_SEGMENT) > 0;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const sizeAt = (isSingle ? 5 : 6) + dictionaryBytes;
  const sizeBytes = flags >> 6 ? 2 ** (flags >> 6) : Number(isSingle);
  refuseSecondFrame(bytes, sizeAt + sizeBytes, flags & ZSTD_CHECKSUM ? 4 : 0);
  if (isSingle && zstdContentBytes(bytes, sizeAt, sizeBytes) > maxBytes) throw tooLarge(maxBytes);
  if (isSingle || (bytes[5] ?? 0) <= ZSTD_WINDOW_MAX) return bytes;
  const bounded = Buffer.from(bytes);
  bounded[5] = ZSTD_WINDOW_MAX;
  return bounded;
}

/** No client writes a second frame, and its window would not be bounded. */
function refuseSecondFrame(bytes: Buffer, blocksAt: number, checksumBytes: number): void {
  let at = blocksAt;
  for (let isLast = false; !isLast; ) {
    const header = bytes.readUIntLE(at, 3);
    isLast = (header & 1) === 1;
    const isOneByte = ((header >> 1) & 3) === 1;
    at += 3 + (isOneByte ? 1 : header >> 3);
  }
  if (at + checksumBytes !== bytes.length) throw new Error('the frame does not end where the batch ends');
}

function zstdContentBytes(bytes: Buffer, at: number, sizeBytes: number): number {
  switch (sizeBytes) {
    case 1:
      return bytes.readUInt8(at);
    case 2:
      return bytes.readUInt16LE(at) + 256;
    case 4:
      return bytes.readUInt32LE(at);
    default:
      return Number(bytes.readBigUInt64LE(at));
  }
}
