import { expect, test } from 'vitest';
import { LANE_OPTIONS, slowMost } from '../../../services/sender/lanes/lane-options.ts';

test('a dark endpoint may have fewer attempts in flight the fuller the slow lane is, so that it never fills up', () => {
  const at = (share: number) => slowMost(LANE_OPTIONS, LANE_OPTIONS.slowSlots * share, false);
  expect([0, 0.49, 0.5, 0.75, 0.95, 1].map(at)).toEqual([
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    8,
    4,
    1,
    1,
  ]);
});

test('an endpoint whose slow attempts succeed is limited in the same way once the slow lane is three quarters full', () => {
  const at = (share: number) => slowMost(LANE_OPTIONS, LANE_OPTIONS.slowSlots * share, true);
  expect([0.5, 0.74, 0.75, 0.875, 1].map(at)).toEqual([
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    8,
    4,
    1,
  ]);
});
