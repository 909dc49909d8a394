/**
 * The schedule (docs/specification.md, "Delivery and retry"): seven attempts, n⁶ + 2 seconds before retry n, never
 * early; and the decision after each attempt.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FAILURE_CODES } from '../../services/domain/attempt.ts';
import { type CountedExchange, decide } from '../../services/domain/outcome.ts';
import {
  ATTEMPTS_MAX,
  retryDelaySeconds,
  retryDueAt,
  TIERS,
  tierOfAttempt,
} from '../../services/domain/retry.ts';

/** The table of docs/specification.md, "Delivery and retry", copied by hand. */
const SPECIFIED_DELAYS = [3, 66, 731, 4098, 15627, 46658];

const failed = (failureCode: (typeof FAILURE_CODES)[number]): CountedExchange => ({
  kind: 'failed',
  failureCode,
  detail: '',
  response: null,
});

describe('the retry schedule', () => {
  it('is the specification’s table', () => {
    expect([1, 2, 3, 4, 5, 6].map(retryDelaySeconds)).toEqual(SPECIFIED_DELAYS);
    expect([...TIERS]).toEqual(SPECIFIED_DELAYS);
    expect([2, 3, 4, 5, 6, 7].map(tierOfAttempt)).toEqual(SPECIFIED_DELAYS);
  });

  it('has no retry 0, 7 or 1.5', () => {
    for (const retry of [0, 7, -1, 1.5, Number.NaN])
      expect(() => retryDelaySeconds(retry)).toThrow(RangeError);
    for (const attempt of [0, 1, 8]) expect(() => tierOfAttempt(attempt)).toThrow(RangeError);
  });

  it('is never early, and late by less than a millisecond, whenever the attempt ended', () => {
    const instant = fc.double({ min: 0, max: 4e12, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), instant, (attempt, endedAt) => {
        const due = retryDueAt(attempt, endedAt);
        const exact = endedAt + retryDelaySeconds(attempt) * 1000;
        expect(due).toBeGreaterThanOrEqual(exact);
        expect(due - exact).toBeLessThan(1);
      }),
    );
  });

  it('is divided by the sandbox’s scale', () => {
    expect(retryDueAt(6, 1_000_000, 1000)).toBe(1_000_000 + 46_658);
  });
});

describe('the outcome of an attempt', () => {
  const task = (attempt: number, attemptsMax = ATTEMPTS_MAX) => ({ attempt, attemptsMax });
  const response = { status: 204, headers: [], body: new Uint8Array(), bodyTruncated: false };

  it('is delivered after a 2xx, at any attempt', () => {
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      expect(decide(task(attempt), { kind: 'acknowledged', response, fault: null }, 0, 1)).toEqual({
        kind: 'delivered',
      });
    }
  });

  it('is a retry after every failure but 410 until the seventh attempt, which is the last', () => {
    for (const code of FAILURE_CODES.filter((code) => code !== 'endpoint_gone')) {
      const decisions = [1, 2, 3, 4, 5, 6, 7].map((attempt) => decide(task(attempt), failed(code), 0, 1));
      expect(
        decisions.map((decision) => (decision.kind === 'retry' ? decision.dueAt / 1000 : decision.kind)),
      ).toEqual([...SPECIFIED_DELAYS, 'exhausted']);
    }
  });

  it('is refused after a 410, at once', () => {
    expect(decide(task(1), failed('endpoint_gone'), 0, 1)).toEqual({ kind: 'refused' });
  });

  it('is exhausted after one failure of a delivery requested by hand', () => {
    expect(decide(task(1, 1), failed('http_5xx'), 0, 1)).toEqual({ kind: 'exhausted' });
  });
});
