import avro from 'avsc';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OnePassString } from '../../services/codec/one-pass-string.ts';

const REFERENCE = avro.Type.forSchema('string');
const TYPE = new OnePassString();

/** Lengths around which it is written in another way, and every kind of character. */
const text = fc
  .tuple(
    fc.constantFrom(0, 1, 36, 62, 63, 64, 65, 127, 128, 600, 8190, 8191, 8192, 9000),
    fc.constantFrom('ascii', 'one other', 'any'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
  )
  .map(([length, kind, some]) => {
    if (kind === 'any') return some.repeat(Math.ceil(length / some.length)).slice(0, length);
    const ascii = 'The quick brown fox {"a":1} '.repeat(Math.ceil(length / 28)).slice(0, length);
    return kind === 'ascii' ? ascii : ascii.slice(0, -1) + some.slice(0, 1);
  });

test('the one-pass string codec writes the same bytes as avsc, at any position and with any room', () => {
  fc.assert(
    fc.property(text, fc.nat({ max: 20 }), fc.integer({ min: -30, max: 30_000 }), (value, start, spare) => {
      const expected = REFERENCE.toBuffer(value);
      const room = Math.max(start, start + expected.length + spare);
      const [mine, theirs] = [Buffer.alloc(room, 7), Buffer.alloc(room, 7)];
      const end = TYPE.encode(value, mine, start);
      // Negative where it did not fit: how many bytes were missing.
      expect(end).toBe(REFERENCE.encode(value, theirs, start));
      if (end < 0) return;
      expect(mine.subarray(0, end).equals(theirs.subarray(0, end))).toBe(true);
      expect(TYPE.fromBuffer(mine.subarray(start, end))).toBe(REFERENCE.fromBuffer(expected));
    }),
    { numRuns: 5000 },
  );
});

test('the one-pass string codec refuses values that are not strings, as avsc does', () => {
  for (const value of [undefined, null, 1, Buffer.from('a')]) {
    expect(() => TYPE.toBuffer(value)).toThrow(/invalid "string"/);
  }
});
