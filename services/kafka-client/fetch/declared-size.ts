/** Snappy-java's framing: `\x82SNAPPY\0`, then two version numbers. Other clients write one bare block. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const XERIAL_HEADER_BYTES = 16;
/** Of a gzip member's header and trailer. */
const GZIP_BYTES_MIN = 18;
const GZIP_MAGIC = 0x8b1f;
export const LZ4_MAGIC = 0x184d2204;
const LZ4_CONTENT_SIZE = 0x08;
const LZ4_CONTENT_SIZE_AT = 6;
const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_SINGLE_SEGMENT = 0x20;

/**
 * Returns the size that a compressed batch declares for its content; 0 where it declares none. The content is never
 * smaller: its reader would refuse it.
 */
export function declaredSize(codec: string, bytes: Buffer): number {
  switch (codec) {
    case 'gzip':
      if (bytes.length < GZIP_BYTES_MIN || bytes.readUInt16LE(0) !== GZIP_MAGIC) return 0;
      // RFC 1952, 2.3.1: the trailer ends with the size of the last member, modulo 2^32.
      return bytes.readUInt32LE(bytes.length - 4);
    case 'snappy':
      return snappyBlocks(bytes).reduce((sum, block) => sum + snappyBlockSize(block), 0);
    case 'lz4':
      return lz4ContentSize(bytes);
    case 'zstd':
      return isZstd(bytes) ? zstdHeader(bytes).contentSize : 0;
    default:
      return 0;
  }
}

/** Returns the snappy blocks of a batch. Throws when one is cut off. */
export function snappyBlocks(bytes: Buffer): Buffer[] {
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return [bytes];
  const blocks: Buffer[] = [];
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length; ) {
    const length = bytes.readInt32BE(at);
    const end = at + 4 + length;
    if (length < 0 || end > bytes.length) throw new Error('a block is cut off');
    blocks.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

/** Returns the decompressed length that a block declares: a varint at its start. */
function snappyBlockSize(block: Buffer): number {
  let length = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = block[index] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) break;
  }
  return length;
}

function lz4ContentSize(bytes: Buffer): number {
  if (bytes.length < LZ4_CONTENT_SIZE_AT + 8 || bytes.readUInt32LE(0) !== LZ4_MAGIC) return 0;
  const hasSize = ((bytes[4] ?? 0) & LZ4_CONTENT_SIZE) > 0;
  return hasSize ? Number(bytes.readBigUInt64LE(LZ4_CONTENT_SIZE_AT)) : 0;
}

export const isZstd = (bytes: Buffer): boolean => bytes.length >= 6 && bytes.readUInt32LE(0) === ZSTD_MAGIC;

interface ZstdHeader {
  readonly isSingle: boolean;
  /** Where the first block begins. */
  readonly blocksAt: number;
  readonly contentSize: number;
}

/** Reads a zstd frame's header (RFC 8878, 3.1.1.1). */
export function zstdHeader(bytes: Buffer): ZstdHeader {
  const flags = bytes[4] ?? 0;
  const isSingle = (flags & ZSTD_SINGLE_SEGMENT) > 0;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const sizeAt = (isSingle ? 5 : 6) + dictionaryBytes;
  const sizeBytes = flags >> 6 ? 2 ** (flags >> 6) : Number(isSingle);
  const blocksAt = sizeAt + sizeBytes;
  const contentSize = blocksAt > bytes.length ? 0 : zstdContentSize(bytes, sizeAt, sizeBytes);
  return { isSingle, blocksAt, contentSize };
}

function zstdContentSize(bytes: Buffer, at: number, sizeBytes: number): number {
  switch (sizeBytes) {
    case 0:
      return 0;
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
