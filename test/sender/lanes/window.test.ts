/** Guarantee: an endpoint has no more attempts in flight than its pace needs. */
import { expect, test } from 'vitest';
import { Blame } from '../../../services/sender/blame/blame.ts';
import { LANE_OPTIONS } from '../../../services/sender/lanes/lane-options.ts';
import { Lanes } from '../../../services/sender/lanes/lanes.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { FakeTask } from './fake-task.ts';

const WAITING = 200;
/** Enough for the mean to follow the pace and the window the mean, by one per success. */
const ROUNDS = 40;

test('the window is as wide as the endpoint’s pace needs, and narrows again when answers get quicker', () => {
  const clock = new SimulatedClock();
  const lanes = new Lanes(clock, new Blame(clock), LANE_OPTIONS);
  let inFlight: FakeTask[] = [];
  let entities = 0;
  const fill = () => {
    while (lanes.counts.waiting < WAITING)
      lanes.admit(new FakeTask('a', `entity ${entities++}`, (each) => inFlight.push(each)));
  };
  const widthAt = (durationMs: number) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const ending = inFlight;
      inFlight = [];
      clock.advance(durationMs);
      for (const each of ending) lanes.settle(each, 'success', null);
      fill();
    }
    return inFlight.length;
  };
  fill();
  expect(widthAt(5)).toBe(32);
  expect(widthAt(50)).toBe(64);
  expect(widthAt(100)).toBe(128);
  expect(widthAt(5)).toBe(32);
});
