/** Guarantee: tasks for an endpoint that turned dark do not keep the intake shut for the tasks behind them. */
import { expect, test } from 'vitest';
import type { Consumer } from '../../services/broker/broker.ts';
import { Intake } from '../../services/sender/intake.ts';
import { LANE_OPTIONS } from '../../services/sender/lanes/lane-options.ts';
import { Lanes } from '../../services/sender/lanes/lanes.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { FakeTask } from './lanes/fake-task.ts';

test('the intake opens again as soon as the endpoint’s attempts are demoted, before any of them ends', () => {
  const clock = new SimulatedClock();
  const lanes = new Lanes(clock, LANE_OPTIONS);
  const said: string[] = [];
  const consumer = { pause: () => said.push('pause'), resume: () => said.push('resume') };
  const intake = new Intake(lanes, consumer as unknown as Consumer);
  lanes.onDemoted = () => intake.adjust();
  const started: FakeTask[] = [];
  for (let i = 0; i < 300; i += 1) {
    lanes.admit(new FakeTask('a', `entity ${i}`, (each) => started.push(each)));
    intake.adjust();
  }
  expect(said).toEqual(['pause']);
  const [first] = started;
  if (!first) throw new Error('nothing has started');
  lanes.settle(first, 'success', null);
  intake.adjust();
  expect(said).toEqual(['pause']);
  clock.advance(250);
  expect(said).toEqual(['pause', 'resume']);
});
