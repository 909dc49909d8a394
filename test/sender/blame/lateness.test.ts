/** Guarantee: a process notices that it is late, and soon forgets it. */
import { expect, it } from 'vitest';
import { Lateness } from '../../../services/sender/blame/lateness.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

function started() {
  const clock = new SimulatedClock();
  const work = { isThere: true };
  const lateness = new Lateness(clock);
  const hasWork = () => work.isThere;
  lateness.watch(hasWork);
  return { clock, lateness, work, hasWork };
}

it('a process that is on time is not late', () => {
  const { clock, lateness } = started();
  clock.advance(10_000);
  expect(lateness.share).toBe(0);
});

it('a process that was stopped for seconds is late when it continues, and no longer some seconds after', () => {
  const { clock, lateness } = started();
  clock.advance(1000);
  clock.holdUp(5000);
  expect(lateness.share).toBeGreaterThan(0.9);
  clock.advance(3000);
  expect(lateness.share).toBeLessThan(0.1);
});

it('a process whose timers fire late again and again is late by that share', () => {
  const { clock, lateness } = started();
  // 50 ms until each is due, and 60 ms late, of which 10 are tolerated.
  for (let i = 0; i < 100; i += 1) clock.holdUp(110);
  expect(lateness.share).toBeCloseTo(0.5, 1);
});

it('the time in which a process was late adds up, that of a hold-up that is not over included', () => {
  const { clock, lateness } = started();
  for (let i = 0; i < 100; i += 1) clock.holdUp(110);
  expect(lateness.lateMs).toBeCloseTo(5000, -2);
  const before = lateness.lateMs;
  let during = 0;
  clock.at(clock.now() + 1, () => {
    during = lateness.lateMs;
  });
  clock.holdUp(1060);
  expect(during - before).toBeCloseTo(1000, -2);
  expect(lateness.lateMs - before).toBeCloseTo(1000, -2);
});

it('a process that is stopped on purpose looks no longer', () => {
  const { clock, lateness } = started();
  lateness.stop();
  clock.holdUp(5000);
  expect(lateness.share).toBe(0);
});

it('a process without work is not measured, and has forgotten its lateness when it has work again', () => {
  const { clock, lateness, work, hasWork } = started();
  clock.holdUp(5000);
  expect(lateness.share).toBeGreaterThan(0.9);
  work.isThere = false;
  clock.advance(365 * 86_400_000);
  lateness.watch(hasWork);
  expect(lateness.share).toBe(0);
  work.isThere = true;
  clock.holdUp(5000);
  expect(lateness.share).toBeGreaterThan(0.9);
});
