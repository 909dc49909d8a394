/**
 * Guarantee: only well-formed trace context is accepted, as the W3C Trace Context recommendation has it (section
 * 3.2).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readTraceparent,
  spanContextOf,
  spanTime,
  traceparentOf,
} from '../../services/telemetry/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${SPAN}-01`;

describe('a traceparent header', () => {
  it.each([
    ['as the recommendation shows it', SAMPLED, SAMPLED],
    ['not sampled', `00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
    ['with undefined flags, which are not passed on', `00-${TRACE}-${SPAN}-ff`, `00-${TRACE}-${SPAN}-03`],
    ['of a later version, longer', `cc-${TRACE}-${SPAN}-01-what-the-future-will-be`, SAMPLED],
    ['of a later version, no longer', `cc-${TRACE}-${SPAN}-01`, SAMPLED],
    ['as bytes', Buffer.from(SAMPLED), SAMPLED],
  ])('is accepted %s', (_, header, expected) => {
    expect(readTraceparent(header)).toBe(expected);
  });

  it.each([
    ['there is none', undefined],
    ['it is empty', ''],
    ['there are several', [SAMPLED, SAMPLED]],
    ['several were joined', `${SAMPLED}, ${SAMPLED}`],
    ['its version is ff', `ff-${TRACE}-${SPAN}-01`],
    ['version 00 has more after it', `${SAMPLED}-more`],
    ['a later version has more without a dash', `cc-${TRACE}-${SPAN}-01.more`],
    ['its letters are capital', SAMPLED.toUpperCase()],
    ['its trace id is zero', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['its span id is zero', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['its trace id is short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['something is before it', ` ${SAMPLED}`],
    ['a line break is after it', `${SAMPLED}\n`],
    ['it is endless', `cc-${TRACE}-${SPAN}-01-${'x'.repeat(100_000)}`],
    ['it is endless bytes', Buffer.from(`cc-${TRACE}-${SPAN}-01-${'x'.repeat(100_000)}`)],
  ])('is ignored when %s', (_, header) => {
    expect(readTraceparent(header)).toBeUndefined();
    if (typeof header !== 'object') expect(spanContextOf(header)).toBeUndefined();
  });

  it('never throws, and an accepted one is accepted again unchanged', () => {
    const nearly = fc
      .tuple(
        fc.constantFrom('00', '01', 'ff', '0'),
        fc.stringMatching(/^[0-9a-f]{31,33}$/),
        fc.stringMatching(/^[0-9a-f]{15,17}$/),
        fc.stringMatching(/^[0-9a-g]{2}$/),
        fc.constantFrom('', '-x', 'x'),
      )
      .map(([version, trace, span, flags, more]) => `${version}-${trace}-${span}-${flags}${more}`);
    let taken = 0;
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string(), fc.uint8Array()), (header) => {
        const read = readTraceparent(header);
        if (read === undefined) return;
        taken += 1;
        expect(read).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/);
        expect(readTraceparent(read)).toBe(read);
      }),
      { numRuns: 2000 },
    );
    expect(taken).toBeGreaterThan(0);
  });

  it('names the same span when written and when read', () => {
    const hex = (length: number) =>
      fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).filter((id) => /[^0]/.test(id));
    fc.assert(
      fc.property(hex(32), hex(16), fc.integer({ min: 0, max: 3 }), (traceId, spanId, traceFlags) => {
        const context = { traceId, spanId, traceFlags };
        expect(spanContextOf(traceparentOf(context))).toEqual({ ...context, isRemote: true });
      }),
    );
    expect(traceparentOf({ traceId: '0'.repeat(32), spanId: SPAN, traceFlags: 0 })).toBeUndefined();
  });
});

it('the time of a span keeps fractions of milliseconds', () => {
  expect(spanTime(1_700_000_000_001.25)).toEqual([1_700_000_000, 1_250_000]);
  expect(spanTime(999.9999999)[1]).toBeLessThan(1_000_000_000);
});
