import { ByteWriter } from '../../../codec/byte-writer.ts';
import { journalCodec } from '../../../codec/records.ts';
import type { JournalEntry } from '../../../domain/journal.ts';
import type { JournalPosition } from '../../store.ts';

/** A journal batch as it is posted to the writer's thread. */
export interface JournalBatch {
  readonly position: JournalPosition;
  /** The entries in Avro, as the journal has them, one after the other; bytes after the last one mean nothing. */
  readonly entries: ArrayBuffer;
  readonly count: number;
}

const decoder = journalCodec.decoder();

/** Encodes a batch. Its bytes may be transferred. Throws when an entry does not fit the journal's schema. */
export function encodeBatch(
  { partition, first, last, positions }: JournalPosition,
  entries: readonly JournalEntry[],
): JournalBatch {
  const writer = new ByteWriter();
  for (const entry of entries) journalCodec.encode(entry, writer);
  const position = { partition, first, last, ...(positions === undefined ? {} : { positions }) };
  return { position, entries: writer.buffer, count: entries.length };
}

export function decodeBatch({ entries, count }: JournalBatch): JournalEntry[] {
  const bytes = Buffer.from(entries);
  const decoded: JournalEntry[] = [];
  for (let position = 0; decoded.length < count; position = decoder.end)
    decoded.push(decoder.decode(bytes, position));
  return decoded;
}
