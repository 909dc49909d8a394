/** Guarantee: one endpoint cannot slow another, however many are dark. */
import { expect, test } from 'vitest';
import { LANE_OPTIONS } from '../../services/sender/lane-options.ts';
import { Lanes } from '../../services/sender/lanes.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { Traveller } from '../support/traveller.ts';

const ENDPOINTS = 1000;
const ADMITTED_PER_TICK = 5;
const TICK_MS = 5;

test.each([0.5, 0.9])('with %d of 1,000 endpoints dark, a healthy one never waits for them', (darkShare) => {
  const clock = new SimulatedClock();
  const lanes = new Lanes(clock, LANE_OPTIONS);
  const started: Traveller[] = [];
  const isDark = (id: string) => Number(id) < ENDPOINTS * darkShare;
  let admitted = 0;
  const admit = () => {
    const traveller = new Traveller(`${admitted % ENDPOINTS}`, `entity ${admitted}`, (each) =>
      started.push(each),
    );
    admitted += 1;
    lanes.admit(traveller);
    return traveller;
  };
  const admittedAt = new Map<Traveller, number>();
  let worstWaitMs = 0;
  for (let tick = 0; tick < 2000; tick += 1) {
    for (let i = 0; i < ADMITTED_PER_TICK; i += 1) admittedAt.set(admit(), clock.now());
    for (const each of started.splice(0)) {
      if (!isDark(each.endpointId)) {
        worstWaitMs = Math.max(worstWaitMs, clock.now() - (admittedAt.get(each) ?? 0));
        clock.at(clock.now() + TICK_MS, () => lanes.settle(each, 'success', null));
      } else clock.at(clock.now() + 10_000, () => lanes.settle(each, 'failure', null));
      admittedAt.delete(each);
    }
    clock.advance(TICK_MS);
  }
  expect(lanes.counts.slow).toBeGreaterThan(400);
  expect(worstWaitMs).toBeLessThanOrEqual(10);
});
