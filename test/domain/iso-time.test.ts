import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoTime } from '../../services/domain/text/iso-time.ts';

/** The first and last milliseconds a Date can have (ECMA-262, "Time Values and Time Range"). */
const RANGE = { min: -8.64e15, max: 8.64e15 };

const ofDate = (time: number) => new Date(time).toISOString();

test('isoTime writes every time as Date does, in whatever order times come', () => {
  const time = fc.oneof(
    fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) }),
    fc.double({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0), noNaN: true }),
    fc.integer({ ...RANGE }),
    fc.integer({ min: -10, max: 10 }).map((offset) => Date.UTC(2030, 5, 1) + offset),
  );
  fc.assert(
    fc.property(fc.array(time, { minLength: 1 }), (times) => {
      for (const one of times) expect(isoTime(one)).toBe(ofDate(one));
    }),
    { numRuns: 2000 },
  );
});

test('isoTime covers the ends of its range, and throws beyond', () => {
  expect(isoTime(RANGE.min)).toBe(ofDate(RANGE.min));
  expect(isoTime(RANGE.max)).toBe(ofDate(RANGE.max));
  for (const none of [Number.NaN, Number.POSITIVE_INFINITY, RANGE.max + 86_400_000])
    expect(() => isoTime(none)).toThrow(RangeError);
  expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
});
