import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  disableReason,
  HEALTHY,
  type Health,
  type Observation,
  observe,
} from '../../services/domain/health.ts';

/**
 * An endpoint is switched off only when it has failed long enough, often enough, and lost a delivery
 * (docs/decisions.md, "Auto-disable").
 */

const HOUR_MS = 3_600_000;
const POLICY = { withoutSuccessMs: 72 * HOUR_MS, failedAttempts: 100 };
const failure = (endedAt: number, isLast = false): Observation & { kind: 'failure' } => ({
  kind: 'failure',
  endedAt,
  code: 'http_5xx',
  responseStatus: 500,
  isLast,
});
const success = (endedAt: number): Observation => ({ kind: 'success', endedAt });
const fold = (seen: readonly Observation[]): Health => seen.reduce(observe, HEALTHY);
const failures = (count: number, endedAt: number, isLast = false) =>
  Array.from({ length: count }, () => failure(endedAt, isLast));

describe('the automatic disabling of an endpoint', () => {
  const end = 72 * HOUR_MS;
  const last = failure(end, true);

  it('needs the time, the attempts and an exhausted delivery, all three', () => {
    const reasonAfter = (seen: readonly Observation[], final = last, activeSince = 0) =>
      disableReason(fold([...seen, final]), final, activeSince, POLICY);
    expect(reasonAfter(failures(99, 1000))).toBe('consecutive_failures');
    expect(reasonAfter(failures(98, 1000))).toBeNull();
    expect(reasonAfter(failures(99, 1000), failure(end - 1, true))).toBeNull();
    expect(reasonAfter(failures(99, 1000), failure(end))).toBeNull();
    expect(reasonAfter(failures(99, 1000), last, 1)).toBeNull();
    expect(reasonAfter([success(1), ...failures(99, 1000)])).toBeNull();
    expect(reasonAfter([success(0), ...failures(99, 1000)])).toBe('consecutive_failures');
  });

  it('comes at once with a 410', () => {
    const gone: Observation = { ...failure(1), code: 'endpoint_gone', responseStatus: 410 };
    expect(disableReason(observe(HEALTHY, gone), gone, 0, POLICY)).toBe('gone');
  });

  it('starts afresh after a success, whatever was before', () => {
    const seen = fc.array(fc.record({ endedAt: fc.nat(1000), isLast: fc.boolean() }), { maxLength: 20 });
    fc.assert(
      fc.property(seen, (before) => {
        const health = fold([...before.map((at) => failure(at.endedAt, at.isLast)), success(1001)]);
        expect(health).toMatchObject({ failureCount: 0, exhaustedCount: 0, lastSuccessAt: 1001 });
      }),
    );
  });

  it('does not count a failure that ended before the last success but was recorded later', () => {
    const health = fold([success(1000), failure(999, true)]);
    expect(health).toMatchObject({ failureCount: 0, exhaustedCount: 0, lastFailureAt: 999 });
  });

  it('keeps the newest failure for people to read, in whatever order failures come', () => {
    const codes = fc.uniqueArray(fc.nat(1000), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(codes, (times) => {
        const health = fold(times.map((at) => ({ ...failure(at), responseStatus: at })));
        const newest = Math.max(...times);
        expect(health.lastFailureAt).toBe(newest);
        expect(health.lastFailure).toEqual({ code: 'http_5xx', responseStatus: newest });
        expect(health.failureCount).toBe(times.length);
      }),
    );
  });
});
