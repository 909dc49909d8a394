/**
 * Records of several journal entries, written, joined and taken apart without being decoded. An Avro array is any number
 * of blocks followed by a zero byte; a block begins with the number of its items, or with that number negated and its
 * size in bytes (Avro specification, "Arrays"). Ours have one entry each, and a size.
 */
import type { JournalEntry } from '../domain/journal.ts';
import { ByteWriter } from './byte-writer.ts';
import { journalCodec } from './records.ts';

/** The number −1 in Avro. */
const ONE_WITH_SIZE = 1;
const END = 0;
const scratch = new ByteWriter();

/** Appends a record of these entries. Throws when one does not fit the schema. */
export function writeEntries(entries: readonly JournalEntry[], into: ByteWriter): void {
  for (const entry of entries) {
    scratch.truncate(0);
    journalCodec.encode(entry, scratch);
    into.u8(ONE_WITH_SIZE);
    writeSize(scratch.length, into);
    into.bytes(scratch.written);
  }
  into.u8(END);
}

/** Appends `more` to the parts of a record: its blocks, which begin at `start`, replace the zero byte. */
export function joinEntries(parts: Buffer[], more: Buffer, start: number): void {
  const last = parts.pop();
  if (last !== undefined) parts.push(last.subarray(0, -1));
  parts.push(more.subarray(start));
}

/**
 * Returns the entries of a record that begins at `start`, still encoded; undefined when its blocks are not as
 * `writeEntries` writes them: then it can only be decoded.
 */
export function splitEntries(record: Buffer, start: number): Buffer[] | undefined {
  const parts: Buffer[] = [];
  let at = start;
  while (record[at] === ONE_WITH_SIZE) {
    // A size in Avro: seven bits a byte, the lowest first, the sign in the lowest of all.
    let twice = 0;
    let factor = 1;
    let byte: number;
    do {
      at += 1;
      byte = record[at] ?? 0;
      twice += (byte & 0x7f) * factor;
      factor *= 0x80;
    } while (byte >= 0x80 && factor <= SIZE_FACTOR_MAX);
    at += 1;
    const end = at + twice / 2;
    if (byte >= 0x80 || twice % 2 !== 0 || end >= record.length) return undefined;
    parts.push(record.subarray(at, end));
    at = end;
  }
  return record[at] === END && at === record.length - 1 ? parts : undefined;
}

/** Four bytes: more than a record may have. */
const SIZE_FACTOR_MAX = 0x80 ** 3;

function writeSize(size: number, into: ByteWriter): void {
  let rest = size * 2;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) into.u8((rest % 0x80) + 0x80);
  into.u8(rest);
}
