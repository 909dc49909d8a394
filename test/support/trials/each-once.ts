import { expect } from 'vitest';
import { judge } from '../models/delivery-checker.ts';
import type { Trial } from './kafka-trial.ts';

/** Expects a trial in which no sender was hit to have every delivery, on its schedule, and no attempt twice. */
export function expectEachOnce(
  { owed, exchanges }: Pick<Trial, 'owed' | 'exchanges'>,
  retryScale: number,
): void {
  const ids = owed.map(({ id }) => id);
  const verdict = judge(ids, exchanges, [], { retryScale });
  expect(verdict.lost).toEqual([]);
  expect(verdict.early).toEqual([]);
  expect(verdict.unexplained).toEqual([]);
}
