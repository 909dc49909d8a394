/** Guarantee: searches that take long together leave room for the rest of the process between them, and none is forgotten. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SearchTurns } from '../../../../services/sender/http/masking/search-turns.ts';

function startTurns() {
  let now = 0;
  const done: number[] = [];
  const turns = new SearchTurns(() => now);
  const search = (id: number, ms: number) =>
    turns.run(() => {
      now += ms;
      done.push(id);
    });
  return { done, search, turns };
}

test('short searches are done at once', () => {
  const { done, search } = startTurns();
  for (let id = 0; id < 100; id += 1) search(id, 0.01);
  expect(done).toHaveLength(100);
});

test('long searches take some milliseconds of a turn, in the order in which they came', async () => {
  const { done, search } = startTurns();
  for (let id = 0; id < 8; id += 1) search(id, 0.9);
  expect(done).toEqual([0, 1, 2]);
  await nextTurn();
  expect(done).toEqual([0, 1, 2, 3, 4, 5]);
  await nextTurn();
  expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('a search that comes while others wait does not overtake them', async () => {
  const { done, search } = startTurns();
  for (let id = 0; id < 3; id += 1) search(id, 20);
  await nextTurn();
  search(3, 0);
  expect(done).toEqual([0, 1]);
  await nextTurn();
  await nextTurn();
  expect(done).toEqual([0, 1, 2, 3]);
});

test('a search that begins another one puts it at the end', async () => {
  const { done, search, turns } = startTurns();
  turns.run(() => search(0, 20));
  turns.run(() => search(2, 1));
  search(1, 1);
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect(done).toEqual([0, 1, 2]);
});
