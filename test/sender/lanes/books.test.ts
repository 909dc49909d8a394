/**
 * Guarantee: whatever endpoints do, every task that enters the lanes starts exactly once, or is parked or released
 * instead, and no slot is ever lost or given twice.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Blame } from '../../../services/sender/blame/blame.ts';
import { LANE_OPTIONS } from '../../../services/sender/lanes/lane-options.ts';
import { Lanes } from '../../../services/sender/lanes/lanes.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { FakeTask } from './fake-task.ts';

const OPTIONS = {
  fastSlots: 5,
  slowSlots: 4,
  slowSlotsMost: 6,
  slowPerEndpointMax: 2,
  waitingMax: 5,
  drainMs: 200,
  windowMax: 6,
};

const STEPS = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('admit' as const),
        endpoint: fc.nat(3),
        entity: fc.option(fc.nat(2)),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('settle' as const),
        index: fc.nat(30),
        result: fc.constantFrom(
          'success' as const,
          'rejected' as const,
          'busy' as const,
          'failure' as const,
          'uncounted' as const,
        ),
        retryAfterMs: fc.option(fc.nat(5000), { freq: 5 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(400) }) },
  ),
  { maxLength: 120, size: 'max' },
);

/** How often a task was started or parked: exactly once in the end. */
const ends = ({ starts, parkedFor }: FakeTask) => starts + (parkedFor === null ? 0 : 1);

test('every task starts once, or is parked or released, and no slot is lost', () => {
  let parked = 0;
  fc.assert(
    fc.property(STEPS, fc.boolean(), (steps, isReleased) => {
      const clock = new SimulatedClock();
      const lanes = new Lanes(clock, new Blame(clock), { ...LANE_OPTIONS, ...OPTIONS });
      const all: FakeTask[] = [];
      const running = () => all.filter(({ place }) => place === 'fast' || place === 'slow');
      for (const step of steps) {
        if (step.do === 'admit') {
          const entity = step.entity === null ? null : `${step.entity}`;
          const task = new FakeTask(`${step.endpoint}`, entity, () => {});
          all.push(task);
          lanes.admit(task);
        } else if (step.do === 'wait') {
          clock.advance(step.ms);
        } else {
          const one = running()[step.index % Math.max(1, running().length)];
          if (one) lanes.settle(one, step.result, step.retryAfterMs);
        }
        const { fast, slow, waiting } = lanes.counts;
        const at = (place: string) => all.filter((each) => each.place === place).length;
        expect({ fast, slow, waiting }).toEqual({
          fast: at('fast'),
          slow: at('slow'),
          waiting: at('waiting'),
        });
        expect([fast <= 5, slow <= 6, waiting <= 5]).toEqual([true, true, true]);
        for (const each of all) expect(ends(each)).toBeLessThan(2);
      }
      parked += all.filter(({ parkedFor }) => parkedFor !== null).length;
      const released = isReleased ? lanes.releaseWaiting() : [];
      // Whatever still waits gets its turn when what is in flight ends.
      for (let round = 0; round < 300; round += 1) {
        const [one] = running();
        if (one) lanes.settle(one, 'success', null);
        clock.advance(1000);
      }
      expect(lanes.counts).toMatchObject({ fast: 0, slow: 0, waiting: 0 });
      for (const each of all) expect(ends(each)).toBe(released.includes(each) ? 0 : 1);
    }),
    { numRuns: 120 },
  );
  expect(parked).toBeGreaterThan(100);
});
