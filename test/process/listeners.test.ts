import { expect, it } from 'vitest';
import { Listeners } from '../../services/process/listeners.ts';

it('callbacks are called in order, each as often as it was added, until it is removed', () => {
  const listeners = new Listeners();
  const heard: string[] = [];
  const first = () => void heard.push('first');
  const removeOne = listeners.add(first);
  listeners.add(() => void heard.push('second'));
  const removeOther = listeners.add(first);
  listeners.call();
  expect(heard.splice(0)).toEqual(['first', 'second', 'first']);
  removeOne();
  removeOne();
  listeners.call();
  expect(heard.splice(0)).toEqual(['second', 'first']);
  removeOther();
  expect(listeners.isEmpty).toBe(false);
});
