import { expect, test } from 'vitest';
import { growingPause } from '../../services/process/growing-pause.ts';

test('the pause doubles with each failure, up to its limit', () => {
  const pauses = [1, 2, 3, 4, 5, 2000].map((failures) => growingPause(failures, 100, 1000));
  expect(pauses).toEqual([100, 200, 400, 800, 1000, 1000]);
});
