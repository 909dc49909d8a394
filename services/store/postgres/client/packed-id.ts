import { packId, unpackId } from '../../../sqlite/ids.ts';

export const UUID_BYTES = 16;
/** Begins an id that is no UUID: no text begins with it. */
const TEXT = 0xff;

/** Returns an id as it is stored: 16 bytes for a UUID in lower case, a marked text for anything else. */
export function idBytes(id: string): Buffer {
  const packed = packId(id);
  if (typeof packed !== 'string') return packed;
  const text = Buffer.from(packed);
  // A marked text never has 16 bytes.
  const marks = text.length + 1 === UUID_BYTES ? 2 : 1;
  return Buffer.concat([Buffer.alloc(marks, TEXT), text]);
}

/** Restores an id exactly as it was. */
export function idOf(bytes: Buffer): string {
  if (bytes.length === UUID_BYTES) return unpackId(bytes);
  return bytes.subarray(bytes[1] === TEXT ? 2 : 1).toString();
}
