/**
 * Guarantee: journal entries pass through records, joined or not, byte for byte without being decoded, and a record that
 * is not made of whole entries is never taken for one that is.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../services/codec/byte-writer.ts';
import { EncodedEntries } from '../../services/codec/encoded-entries.ts';
import { joinEntries, splitEntries, writeEntries } from '../../services/codec/journal-blocks.ts';
import { journalCodec, journalEntriesCodec } from '../../services/codec/records.ts';
import type { JournalEntry } from '../../services/domain/journal.ts';
import { anEvent, aTask, attempted, requested, routed } from '../support/records/broker-records.ts';

const task = aTask({ body: Buffer.alloc(20_000, 7) });
const ENTRIES: readonly JournalEntry[] = [routed(anEvent()), requested(task), attempted(task)];

function recordOf(entries: readonly JournalEntry[]): Buffer {
  const writer = new ByteWriter();
  writeEntries(entries, writer);
  return Buffer.from(writer.written);
}

describe('journal records', () => {
  it('are read by Avro, and taken apart into the bytes of their entries', () => {
    const record = recordOf(ENTRIES);
    expect(journalEntriesCodec.decoder().decode(record, 0)).toEqual(ENTRIES);
    expect(splitEntries(record, 0)).toEqual(ENTRIES.map((entry) => journalCodec.toBuffer(entry)));
  });

  it('are joined, whatever each begins with', () => {
    const prefix = Buffer.from('prefix');
    const parts = [Buffer.concat([prefix, recordOf(ENTRIES.slice(0, 1))])];
    joinEntries(parts, Buffer.concat([prefix, recordOf(ENTRIES.slice(1))]), prefix.length);
    const joined = Buffer.concat(parts);
    expect(joined).toEqual(Buffer.concat([prefix, recordOf(ENTRIES)]));
    expect(splitEntries(joined, prefix.length)).toHaveLength(ENTRIES.length);
  });

  it('with blocks of another make are left to Avro', () => {
    expect(splitEntries(journalEntriesCodec.toBuffer(ENTRIES), 0)).toBeUndefined();
  });

  it('are not taken apart when they are cut short, or followed by something', () => {
    const record = recordOf(ENTRIES);
    for (let length = 0; length < record.length; length += 1)
      expect(splitEntries(record.subarray(0, length), 0)).toBeUndefined();
    expect(splitEntries(Buffer.concat([record, Buffer.from([0])]), 0)).toBeUndefined();
  });

  it('of any bytes are taken apart or not, without an error', () => {
    const bytes = fc.array(fc.oneof(fc.constantFrom(0, 1, 2, 4, 6, 0x80, 0xff), fc.nat(255)));
    fc.assert(
      fc.property(bytes, (some) => {
        const parts = splitEntries(Buffer.from(some), 0) ?? [];
        const total = parts.reduce((sum, { length }) => sum + length, 0);
        expect(total).toBeLessThan(Math.max(1, some.length));
      }),
    );
  });
});

describe('encoded entries', () => {
  const parts = ENTRIES.map((entry) => journalCodec.toBuffer(entry));

  it('are decoded when they are read', () => {
    const entries = new EncodedEntries(parts);
    expect(entries).toHaveLength(ENTRIES.length);
    expect([...entries]).toEqual(ENTRIES);
    expect(entries.at(-1)).toEqual(ENTRIES.at(-1));
    expect(entries.at(ENTRIES.length)).toBeUndefined();
  });

  it('are refused when an entry is shorter than its part', () => {
    const entries = new EncodedEntries([Buffer.concat([parts[0] as Buffer, Buffer.from([0])])]);
    expect(() => [...entries]).toThrow(/ends after/);
  });
});
