import type { JournalEntries, JournalEntry } from '../domain/journal.ts';
import { journalCodec } from './records.ts';

const decoder = journalCodec.decoder();

/**
 * Journal entries in Avro, by the current schema: whoever only passes them on need not decode them. They are decoded,
 * once, when one of them is read, which throws when the bytes are not what they should be.
 */
export class EncodedEntries implements JournalEntries {
  /** Each part is one entry. */
  readonly parts: readonly Buffer[];
  #decoded: readonly JournalEntry[] | null = null;

  constructor(parts: readonly Buffer[]) {
    this.parts = parts;
  }

  get length(): number {
    return this.parts.length;
  }

  /** Decodes no other entry. */
  at(index: number): JournalEntry | undefined {
    const part = this.parts.at(index);
    return part && this.#decode(part);
  }

  [Symbol.iterator](): Iterator<JournalEntry> {
    this.#decoded ??= this.parts.map((part) => this.#decode(part));
    return this.#decoded[Symbol.iterator]();
  }

  #decode(part: Buffer): JournalEntry {
    const entry = decoder.decode(part, 0);
    if (decoder.end !== part.length)
      throw new Error(`a journal entry of ${part.length} bytes ends after ${decoder.end}`);
    return entry;
  }
}
