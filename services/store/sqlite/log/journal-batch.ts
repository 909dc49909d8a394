import { ByteWriter } from '../../../codec/byte-writer.ts';
import { decodeEntries } from '../../../codec/encoded-entries.ts';
import { journalCodec } from '../../../codec/records.ts';
import type { EncodedEntries, JournalEntry } from '../../../domain/journal.ts';
import type { JournalPosition } from '../../store.ts';

/** A journal batch as it is posted to the writer's thread. */
export interface JournalBatch {
  readonly position: JournalPosition;
  /** The entries in Avro, as the journal has them, one after the other. */
  readonly entries: ArrayBuffer;
  readonly bytes: number;
}

/** Encodes a batch. Its bytes may be transferred. Throws when an entry does not fit the journal's schema. */
export function encodeBatch(
  { partition, first, last, positions }: JournalPosition,
  entries: readonly JournalEntry[] | EncodedEntries,
): JournalBatch {
  const writer = new ByteWriter();
  if ('pieces' in entries) for (const piece of entries.pieces) writer.bytes(piece);
  else for (const entry of entries) journalCodec.encode(entry, writer);
  const position = { partition, first, last, ...(positions === undefined ? {} : { positions }) };
  return { position, entries: writer.buffer, bytes: writer.length };
}

export function decodeBatch({ entries, bytes }: JournalBatch): JournalEntry[] {
  return decodeEntries(Buffer.from(entries, 0, bytes));
}
