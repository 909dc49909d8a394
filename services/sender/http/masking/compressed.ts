import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib';

/** A compressed text may be at most this long: a few kilobytes can stand for gigabytes. */
export const DECOMPRESSED_BYTES_MAX = 256 * 1024;

type Decompress = (bytes: Buffer) => Buffer;

/** The input may be cut off: what is there is decompressed. */
const OPTIONS = { maxOutputLength: DECOMPRESSED_BYTES_MAX, finishFlush: constants.Z_SYNC_FLUSH } as const;

const CODINGS: Readonly<Record<string, Decompress>> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gunzipSync(bytes, OPTIONS),
  // RFC 9110, section 8.4.1.2: some send it without the header of zlib.
  deflate: (bytes) => (isZlib(bytes) ? inflateSync(bytes, OPTIONS) : inflateRawSync(bytes, OPTIONS)),
  br: (bytes) =>
    brotliDecompressSync(bytes, {
      maxOutputLength: DECOMPRESSED_BYTES_MAX,
      finishFlush: constants.BROTLI_OPERATION_FLUSH,
    }),
  zstd: (bytes) =>
    zstdDecompressSync(bytes, {
      maxOutputLength: DECOMPRESSED_BYTES_MAX,
      finishFlush: constants.ZSTD_e_flush,
    }),
};
const CODINGS_MAX = 2;

/** The codings of which the first bytes are distinct enough to be recognised. */
const MAGIC: readonly (readonly [coding: string, bytes: readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b, 0x08]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['deflate', [0x78, 0x01]],
  ['deflate', [0x78, 0x5e]],
  ['deflate', [0x78, 0x9c]],
  ['deflate', [0x78, 0xda]],
];

/** Returns the coding that bytes are compressed with, by how they begin, or null. */
export function codingOf(bytes: Buffer): string | null {
  return MAGIC.find(([, magic]) => magic.every((byte, i) => bytes[i] === byte))?.[0] ?? null;
}

function isZlib(bytes: Buffer): boolean {
  return codingOf(bytes) === 'deflate';
}

/**
 * Undoes content codings: the value of Content-Encoding (RFC 9110, section 8.4). Returns null where one is unknown, or
 * where the bytes do not follow it or stand for more than DECOMPRESSED_BYTES_MAX.
 */
export function decompressed(bytes: Buffer, contentEncoding: string): Buffer | null {
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-/, ''))
    .filter((name) => name !== '');
  if (names.length > CODINGS_MAX) return null;
  let plain = bytes;
  for (const name of names.reverse()) {
    const decompress = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined;
    if (!decompress) return null;
    try {
      if (plain.length > 0) plain = decompress(plain);
    } catch {
      return null;
    }
  }
  return plain;
}
