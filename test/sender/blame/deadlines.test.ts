/** Guarantee: a receiver is not blamed for time in which the sender's process stood still. */
import { describe, expect, it } from 'vitest';
import { type Deadline, Deadlines, type WhenLate } from '../../../services/sender/blame/deadlines.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const AHEAD_MS = 1000;
/** Deadlines notice to within this that the process stood still. */
const NOTICED_MS = 100;

function bench(whenLate: WhenLate) {
  const clock = new SimulatedClock();
  const due: string[] = [];
  const deadlines = new Deadlines<string>(clock, { aheadMs: AHEAD_MS, whenLate }, (item) => {
    due.push(item);
  });
  const add = (item: string): Deadline<string> => deadlines.add(item, clock.now());
  return { clock, due, deadlines, add };
}

describe('a process that stood still beyond its deadlines', () => {
  it('times nothing out when it resumes: every deadline keeps the time it had left', () => {
    const { clock, due, add } = bench('extend');
    add('first');
    clock.advance(600);
    add('second');
    clock.holdUp(30_000);
    clock.advance(400 - NOTICED_MS - 1);
    expect(due).toEqual([]);
    clock.advance(NOTICED_MS + 11);
    expect(due).toEqual(['first']);
    clock.advance(600 - NOTICED_MS - 20);
    expect(due).toEqual(['first']);
    clock.advance(NOTICED_MS + 20);
    expect(due).toEqual(['first', 'second']);
  });

  it('gives a deadline that was just added its whole time', () => {
    const { clock, due, add } = bench('extend');
    add('early');
    clock.advance(990);
    add('just added');
    clock.holdUp(12_000);
    clock.advance(AHEAD_MS - NOTICED_MS);
    expect(due).toEqual(['early']);
    clock.advance(NOTICED_MS + 11);
    expect(due).toEqual(['early', 'just added']);
  });

  it('does not time out a request that was answered meanwhile', () => {
    const { clock, due, deadlines, add } = bench('extend');
    const answered = add('answered');
    clock.advance(999);
    clock.holdUp(5000);
    deadlines.remove(answered);
    clock.advance(10 * AHEAD_MS);
    expect(due).toEqual([]);
  });

  it('fires at once where being late changes nothing', () => {
    const { clock, due, add } = bench('fire');
    add('first');
    clock.advance(500);
    clock.holdUp(5000);
    expect(due).toEqual(['first']);
  });

  it('fires on time where what has arrived is read first, unless that removes it', () => {
    const { clock, due, deadlines, add } = bench('read-first');
    const answered = add('answered');
    add('first');
    clock.advance(500);
    clock.holdUp(5000);
    // Added later than what has arrived was requested: not yet judged.
    add('second');
    expect(due).toEqual([]);
    deadlines.remove(answered);
    clock.advance(1);
    expect(due).toEqual(['first']);
    clock.advance(AHEAD_MS);
    expect(due).toEqual(['first', 'second']);
  });
});

it('a pause that ends before any deadline is given back too', () => {
  const { clock, due, add } = bench('extend');
  add('one');
  clock.advance(100);
  clock.holdUp(800);
  clock.advance(900 - NOTICED_MS - 1);
  expect(due).toEqual([]);
  clock.advance(NOTICED_MS + 11);
  expect(due).toEqual(['one']);
});

it('deadlines fall due even while the event loop is always late', () => {
  const { clock, due, add } = bench('extend');
  add('one');
  for (let turn = 0; turn < 100 && due.length === 0; turn += 1) clock.holdUp(150);
  expect(due).toEqual(['one']);
});

it('without a pause, a deadline falls due on time', () => {
  const { clock, due, add } = bench('extend');
  add('one');
  clock.advance(AHEAD_MS - 1);
  expect(due).toEqual([]);
  clock.advance(1 + 5);
  expect(due).toEqual(['one']);
});
