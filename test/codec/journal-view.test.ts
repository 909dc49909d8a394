/**
 * Guarantee: a journal entry that is read where it lies is the one that was written, whatever lies around it; bytes that
 * are not one entry are refused.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { journalCodec } from '../../services/codec/records.ts';
import { headerBytesOf, headersIn, viewEntry } from '../../services/codec/view/journal-view.ts';
import { bytes, journal } from '../support/records/any-records.ts';
import { anEvent, aTask, attempted, requested, routed } from '../support/records/broker-records.ts';

it('is the same entry, with every field', () => {
  fc.assert(
    fc.property(journal, bytes, bytes, (entry, before, after) => {
      const written = journalCodec.toBuffer(entry);
      const around = Buffer.concat([before, written, after]);
      const viewed = viewEntry(around, before.length, before.length + written.length);
      expect(viewed.kind).toBe(entry.kind);
      expect(journalCodec.toBuffer(viewed)).toEqual(written);
      if (entry.kind !== 'attempted' || viewed.kind !== 'attempted' || !entry.response) return;
      if (!viewed.response) throw new Error('the response is missing');
      for (const response of [viewed.response, entry.response])
        expect(headersIn(headerBytesOf(response))).toEqual(entry.response.headers);
    }),
    { numRuns: 300 },
  );
});

it('is refused when it is cut short, or something follows it', () => {
  const entries = [routed(anEvent()), requested(aTask()), attempted(aTask())];
  for (const entry of entries) {
    const written = journalCodec.toBuffer(entry);
    for (let length = 0; length < written.length; length += 1) {
      expect(() => viewEntry(written, 0, length)).toThrow();
      expect(() => viewEntry(Buffer.from(written.subarray(0, length)), 0, length)).toThrow();
    }
    const longer = Buffer.concat([written, Buffer.from([0])]);
    expect(() => viewEntry(longer, 0, longer.length)).toThrow(/ends after/);
  }
});

it('is read or refused, whatever the bytes are', () => {
  const any = fc.array(fc.oneof(fc.constantFrom(0, 1, 2, 4, 6, 0x80, 0xff), fc.nat(255)));
  fc.assert(
    fc.property(any, (some) => {
      for (const start of [[], [2], [0, 0, 2]]) {
        const bytes = Buffer.from([...start, ...some]);
        try {
          journalCodec.toBuffer(viewEntry(bytes, 0, bytes.length));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }
    }),
  );
});
