const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** No content size, no checksum, no dictionary; then a window of 128 KiB, which is also the largest block. */
const HEADER = Buffer.from([0x00, 0x38]);
const BLOCK_BYTES_MAX = 128 * 1024;

/** A zstd frame that holds the bytes as they are: valid for every reader, and needs no compressor. */
export function storedZstdFrame(bytes) {
  const parts = [MAGIC, HEADER];
  let at = 0;
  do {
    const block = bytes.subarray(at, at + BLOCK_BYTES_MAX);
    at += block.length;
    const header = Buffer.alloc(3);
    // Bit 0: the last block. Bits 1 and 2: 0 for a stored block. Then the size.
    header.writeUIntLE((block.length << 3) | (at >= bytes.length ? 1 : 0), 0, 3);
    parts.push(header, block);
  } while (at < bytes.length);
  return Buffer.concat(parts);
}
