const UUID_BYTES = 16;
const UUID_LENGTH = 36;
const DASH = 45;
/** Bit i is set when character i of a UUID is a dash. */
const DASHES = (1 << 8) | (1 << 13) | (1 << 18) | (1 << 23);
/** Value of a lower-case hexadecimal digit by its character code, −1 for any other character. */
const DIGIT = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 16; digit += 1) DIGIT[digit.toString(16).charCodeAt(0)] = digit;

/**
 * Returns an id as it is stored in the file: 16 bytes for a UUID in lower case, the text itself for anything else.
 * Written by hand: twice per row, a regular expression and Buffer's hex cost more than the row's insert.
 */
export function packId(id: string): Buffer | string {
  if (id.length !== UUID_LENGTH) return id;
  const bytes = Buffer.allocUnsafe(UUID_BYTES);
  return packUuidInto(id, bytes, 0) ? bytes : id;
}

/** Writes a UUID in lower case as 16 bytes from `at` on. Returns false when the id is anything else. */
export function packUuidInto(id: string, bytes: Uint8Array, at: number): boolean {
  if (id.length !== UUID_LENGTH) return false;
  let to = at;
  for (let index = 0; index < UUID_LENGTH; index += 1) {
    if (index < 24 && DASHES & (1 << index)) {
      if (id.charCodeAt(index) !== DASH) return false;
      continue;
    }
    const high = DIGIT[id.charCodeAt(index)] ?? -1;
    index += 1;
    const low = DIGIT[id.charCodeAt(index)] ?? -1;
    if (high < 0 || low < 0) return false;
    bytes[to] = (high << 4) | low;
    to += 1;
  }
  return true;
}

/** Restores an id exactly as it was packed. */
export function unpackId(packed: Uint8Array | string): string {
  if (typeof packed === 'string') return packed;
  const hex = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
