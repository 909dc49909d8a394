import type { EncodedEntries, JournalEntry } from '../domain/journal.ts';
import { journalCodec } from './records.ts';

const decoder = journalCodec.decoder();

/** Journal entries in Avro, in the current schema: bytes that one part wrote and another takes as they are. */
export class AvroEntries implements EncodedEntries {
  readonly pieces: readonly Buffer[];
  readonly count: number;
  readonly newest: JournalEntry;

  constructor(pieces: readonly Buffer[], count: number, newest: JournalEntry) {
    this.pieces = pieces;
    this.count = count;
    this.newest = newest;
  }

  decode(): JournalEntry[] {
    return this.pieces.flatMap(decodeEntries);
  }
}

/** Returns the entries that the bytes hold, one after the other. */
export function decodeEntries(bytes: Buffer): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (let position = 0; position < bytes.length; position = decoder.end)
    entries.push(decoder.decode(bytes, position));
  return entries;
}
