/** Guarantee: owners share turns in rotation, and one that fails or waits for ever holds up nobody's turn but its own. */
import { expect, it } from 'vitest';
import { FairTurns } from '../../services/process/fair-turns.ts';

/** Starts pieces of work that wait until they are let go, and notes the order in which they begin. */
function workOf(turns: FairTurns) {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const start = (owner: string, name: string) =>
    turns.run(owner, async () => {
      begun.push(name);
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => waiting.push(resolve));
      running -= 1;
    });
  const finishAll = async (all: readonly Promise<void>[]) => {
    let isDone = false;
    const done = Promise.all(all).then(() => {
      isDone = true;
    });
    while (!isDone) {
      waiting.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
  };
  return { begun, start, finishAll, most: () => most };
}

it('an owner with many pieces delays another by one', async () => {
  const { begun, start, finishAll, most } = workOf(new FairTurns(1));
  const all = [1, 2, 3, 4].map((n) => start('one', `one ${n}`));
  all.push(start('two', 'two 1'), start('three', 'three 1'), start('two', 'two 2'));
  await finishAll(all);
  expect(begun).toEqual(['one 1', 'one 2', 'two 1', 'three 1', 'one 3', 'two 2', 'one 4']);
  expect(most()).toBe(1);
});

it('as many pieces as allowed run at a time, and a failed one gives its turn back', async () => {
  const turns = new FairTurns(2);
  const { begun, start, finishAll, most } = workOf(turns);
  const failing = turns.run('one', () => Promise.reject(new Error('it failed')));
  await expect(failing).rejects.toThrow('it failed');
  await finishAll([1, 2, 3, 4, 5].map((n) => start('one', `${n}`)));
  expect([begun, most()]).toEqual([['1', '2', '3', '4', '5'], 2]);
});
