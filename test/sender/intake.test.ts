/** Guarantee: tasks for an endpoint that turned dark do not keep the intake shut for the tasks behind them. */
import { describe, expect, test } from 'vitest';
import type { Consumer } from '../../services/broker/broker.ts';
import { Intake } from '../../services/sender/intake.ts';
import { type BenchOptions, laneBench } from './lanes/lane-bench.ts';

/** An intake that is shut because of a burst to an endpoint that answered once, and how often it was shut and opened. */
function shutIntake(options: BenchOptions = {}) {
  const { clock, lanes, started, admit, settle } = laneBench(options);
  const said: string[] = [];
  const consumer = { pause: () => said.push('pause'), resume: () => said.push('resume') };
  const intake = new Intake(lanes, consumer as unknown as Consumer);
  lanes.onFewerWaiting = () => intake.adjust();
  for (let i = 0; i < 300; i += 1) {
    admit('a');
    intake.adjust();
  }
  settle(started[0]);
  intake.adjust();
  expect(said).toEqual(['pause']);
  return { clock, said };
}

test('the intake opens again as soon as the endpoint’s attempts are demoted, before any of them ends', () => {
  const { clock, said } = shutIntake();
  clock.advance(250);
  expect(said).toEqual(['pause', 'resume']);
});

describe('while this process is late', () => {
  /** No attempt to the endpoint starts or is demoted after the first ones, which fill the slow lane. */
  const FULL = { slowSlots: 1, lateness: { isLate: () => true } };

  test('the intake stays shut for an endpoint that was silent only while the process could not listen', () => {
    let lateMs = 0;
    const { clock, said } = shutIntake({ ...FULL, lateness: { isLate: () => true, lateMs: () => lateMs } });
    for (let i = 0; i < 30; i += 1) {
      lateMs += 95;
      clock.advance(100);
    }
    expect(said).toEqual(['pause']);
  });

  test('it opens again, although no attempt ends, once the endpoint is silent for longer than usual', () => {
    const { clock, said } = shutIntake(FULL);
    clock.advance(250);
    expect(said).toEqual(['pause']);
    clock.advance(600);
    expect(said).toEqual(['pause', 'resume']);
  });
});

test('once this process is on time, the intake opens although no attempt ends', () => {
  let isLate = true;
  let lateMs = 0;
  const { clock, said } = shutIntake({
    slowSlots: 1,
    lateness: { isLate: () => isLate, lateMs: () => lateMs },
  });
  lateMs = 600;
  clock.advance(600);
  expect(said).toEqual(['pause']);
  isLate = false;
  clock.advance(500);
  expect(said).toEqual(['pause', 'resume']);
});
