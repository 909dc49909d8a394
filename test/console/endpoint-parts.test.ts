/** The parts of the endpoint screens that compute: shares, the order of deliveries, and how much a filter lets through. */
import { expect, test } from 'vitest';
import { failedFirst, matchedBy, percentOf } from '../../console/endpoints/counts.ts';

test('a share is 100 % only when all succeeded, and 0 % only when none did', () => {
  const shares = [percentOf(99_999, 100_000), percentOf(1, 100_000), percentOf(2, 3)];
  expect(shares).toEqual(['99.9 %', '0.1 %', '66.7 %']);
  expect([percentOf(7, 7), percentOf(0, 7)]).toEqual(['100 %', '0 %']);
});

test('deliveries that failed come first and tests last, and keep their order', () => {
  const all = ['delivered', 'failed', 'new_status', 'exhausted', 'failed'].map((status, id) => ({
    status,
    id,
    trigger: 'live',
  }));
  const test = { status: 'exhausted', id: 9, trigger: 'test' };
  expect(failedFirst([test, ...all]).map(({ id }) => id)).toEqual([3, 1, 4, 0, 9, 2]);
});

test('a filter says how many events of the last week it lets through, by what its version has', () => {
  const week = {
    byType: new Map([
      ['KYC', 41],
      ['KYB', 5],
      ['fiatToCrypto', 4],
    ]),
    total: 50,
    hasMore: false,
  };
  expect(matchedBy(['KYC', 'KYB'], '2.3.8', week)).toBe('It lets 46 of the 50 events of last week through.');
  expect(matchedBy(['KYC', 'KYB'], '2.2.8', week)).toBe('It lets 41 of the 50 events of last week through.');
  expect(matchedBy(null, '2.3.8', { ...week, hasMore: true })).toContain('the newest 50 events of last week');
  expect(matchedBy(null, '2.3.8', { byType: new Map(), total: 0, hasMore: false })).toContain('no events');
});
