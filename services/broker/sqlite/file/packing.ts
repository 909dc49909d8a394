import { compressSync, uncompressSync } from 'lz4-napi';

/** Smaller rows are stored as they are: SQLite writes a whole page for them anyway. */
const PACKED_BYTES_MIN = 4096;

/** The bytes of a batch row as they are stored, and whether they are packed (1) or not (0). */
export interface Stored {
  readonly blob: Buffer;
  readonly packed: 0 | 1;
}

/** Packs a batch row's bytes with LZ4 when that makes them smaller: the records of a row are much alike. */
export function pack(bytes: Buffer): Stored {
  if (bytes.length < PACKED_BYTES_MIN) return { blob: bytes, packed: 0 };
  const blob = compressSync(bytes);
  return blob.length < bytes.length ? { blob, packed: 1 } : { blob: bytes, packed: 0 };
}

/** Returns the bytes of a stored row. Throws when packed bytes are damaged. */
export function unpack({ blob, packed }: { readonly blob: Uint8Array; readonly packed: number }): Uint8Array {
  return packed === 1 ? uncompressSync(blob) : blob;
}
