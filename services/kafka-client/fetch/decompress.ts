import { gunzipSync } from 'node:zlib';
import { Decompress } from 'fzstd';
import { decompressFrameSync } from 'lz4-napi';
import snappy from 'snappyjs';
import { messageOf } from '../../messages/error-message.ts';
import { declaredSize, isZstd, LZ4_MAGIC, snappyBlocks, zstdHeader } from './declared-size.ts';

/** The codecs of Kafka's record batches, by the number in a batch's attributes. */
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

/**
 * Decompresses the records of a batch. Throws when the codec is unknown, the bytes are not of that codec, or the result
 * would exceed `maxBytes`: memory is bounded by that, however small the input is.
 */
export function decompressNow(codec: number, bytes: Buffer, maxBytes: number): Buffer {
  const name = CODECS[codec];
  if (name === 'none') return bytes;
  if (name === undefined) throw new Error(`the batch is compressed with an unknown codec (${codec})`);
  try {
    if (declaredSize(name, bytes) > maxBytes) throw tooLarge(maxBytes);
    return DECOMPRESS[name](bytes, maxBytes);
  } catch (error) {
    const message = `the batch cannot be decompressed with ${name}: ${messageOf(error)}`;
    throw error instanceof TooLarge ? new TooLarge(message) : new Error(message);
  }
}

/** The result would exceed the limit. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

const tooLarge = (maxBytes: number) => new TooLarge(`it decompresses to more than ${maxBytes} bytes`);

const DECOMPRESS = { gzip: gunzip, snappy: unsnappy, lz4: unlz4, zstd: unzstd } as const;

function gunzip(bytes: Buffer, maxBytes: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(maxBytes);
    throw error;
  }
}

function unsnappy(bytes: Buffer, maxBytes: number): Buffer {
  const blocks = snappyBlocks(bytes).map((block) => {
    const { buffer, byteOffset, length } = snappy.uncompress(block, maxBytes);
    return Buffer.from(buffer, byteOffset, length);
  });
  return blocks.length === 1 && blocks[0] ? blocks[0] : Buffer.concat(blocks);
}

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
  stream.push(withBoundedWindow(bytes), true);
  return Buffer.concat(parts, length);
}

/**
 * Limits the window that a frame's header names, which may be 2 GB and which the library allocates. A match never
 * reaches back further than the decompressed data, so a window of 16 MiB, which is at least `maxBytes`, loses nothing.
 */
function withBoundedWindow(bytes: Buffer): Buffer {
  if (!isZstd(bytes)) throw new Error('it is not a zstd frame');
  const { isSingle, blocksAt } = zstdHeader(bytes);
  refuseSecondFrame(bytes, blocksAt, (bytes[4] ?? 0) & ZSTD_CHECKSUM ? 4 : 0);
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
