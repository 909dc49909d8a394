/** Guarantee: work that is done a few at a time never exceeds the limit, keeps the order, and stops after a failure. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fewAtOnce } from '../../services/process/few-at-once.ts';

test.each([
  [0, 4],
  [1, 4],
  [4, 4],
  [257, 4],
  [30, 1],
])('the results of %i items are in their order, with at most %i at a time', async (count, atOnce) => {
  let running = 0;
  let most = 0;
  const items = Array.from({ length: count }, (_, item) => item);
  const results = await fewAtOnce(items, atOnce, async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < 1 + (item % 3); turn += 1) await setImmediate();
    running -= 1;
    return item * 2;
  });
  expect(results).toEqual(items.map((item) => item * 2));
  expect(most).toBe(Math.min(count, atOnce));
});

test('the first failure rejects, and no further item is begun', async () => {
  const begun: number[] = [];
  const items = Array.from({ length: 100 }, (_, item) => item);
  const all = fewAtOnce(items, 4, async (item) => {
    begun.push(item);
    await setImmediate();
    if (item === 5) throw new Error('the store does not answer');
  });
  await expect(all).rejects.toThrow('the store does not answer');
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(begun.length).toBeLessThan(12);
});
