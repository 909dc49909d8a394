import { ByteWriter } from '../../../codec/byte-writer.ts';
import { EncodedEntries } from '../../../codec/encoded-entries.ts';
import { journalCodec } from '../../../codec/records.ts';
import { viewEntry } from '../../../codec/view/journal-view.ts';
import type { JournalBatch, JournalEntries, JournalEntry } from '../../../domain/journal.ts';

/** A journal batch as it is posted to the writer's thread. */
export interface PostedBatch {
  readonly position: Omit<JournalBatch, 'entries'>;
  /** The entries in Avro, as the journal has them, one after the other; bytes after the last one mean nothing. */
  readonly entries: ArrayBuffer;
  /** The bytes of each entry. */
  readonly lengths: Uint32Array;
}

/**
 * Encodes a batch, or copies one that is encoded. Its bytes may be transferred. Throws when an entry does not fit the
 * journal's schema.
 */
export function encodeBatch({
  partition,
  first,
  last,
  positions,
  after,
  entries,
}: JournalBatch): PostedBatch {
  const position = { partition, first, last, after, ...(positions === undefined ? {} : { positions }) };
  return { position, ...(entries instanceof EncodedEntries ? copied(entries) : encoded(entries)) };
}

/** Returns the entries, each read when its turn comes; one that is malformed throws. */
export function* entriesOf({ entries, lengths }: PostedBatch): Generator<JournalEntry> {
  const bytes = Buffer.from(entries);
  let at = 0;
  for (const length of lengths) {
    yield viewEntry(bytes, at, at + length);
    at += length;
  }
}

function encoded(entries: JournalEntries): Pick<PostedBatch, 'entries' | 'lengths'> {
  const writer = new ByteWriter();
  const lengths = new Uint32Array(entries.length);
  let count = 0;
  for (const entry of entries) {
    const start = writer.length;
    journalCodec.encode(entry, writer);
    lengths[count++] = writer.length - start;
  }
  return { entries: writer.buffer, lengths };
}

function copied({ parts }: EncodedEntries): Pick<PostedBatch, 'entries' | 'lengths'> {
  const lengths = Uint32Array.from(parts, ({ length }) => length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { entries: bytes.buffer, lengths };
}
