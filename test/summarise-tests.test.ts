/** The last line of a check run tells the truth: a failure that no test carries is counted all the same. */
import { expect, test } from 'vitest';
import { summarise } from '../scripts/summarise-tests.ts';

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
});

test('passed and skipped tests are counted', () => {
  const report = { success: true, testResults: [file('passed', 'passed', 'passed', 'skipped', 'todo')] };
  expect(summarise(report)).toEqual({ line: '2 passed, 0 failed, 2 skipped', ok: true });
});

test('a failed test is counted once', () => {
  const report = {
    success: false,
    testResults: [file('failed', 'passed', 'failed'), file('passed', 'passed')],
  };
  expect(summarise(report)).toEqual({ line: '2 passed, 1 failed', ok: false });
});

test('a file that fails outside its tests is a failure', () => {
  const report = { success: false, testResults: [file('failed'), file('passed', 'passed')] };
  expect(summarise(report)).toEqual({ line: '1 passed, 1 failed', ok: false });
});

test('a run that fails outside every file is a failure', () => {
  expect(summarise({ success: false, testResults: [file('passed', 'passed')] }).ok).toBe(false);
});

test('a run without tests is not a success', () => {
  expect(summarise({ success: true, testResults: [] })).toEqual({ line: '0 passed, 0 failed', ok: false });
});
