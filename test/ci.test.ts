/**
 * .ci/run checks all that `npm run check` checks, and its last line tells the truth: a failure that no test carries is
 * counted all the same.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failuresOf, readReports, summarise } from '../scripts/summarise-tests.ts';

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
});

test('the summary of tests counts passed and skipped tests', () => {
  const report = { success: true, testResults: [file('passed', 'passed', 'passed', 'skipped', 'todo')] };
  expect(summarise(report, 0)).toEqual({ line: '2 passed, 0 failed, 2 skipped', ok: true });
});

test('the summary of tests counts a failed test once', () => {
  const report = {
    success: false,
    testResults: [file('failed', 'passed', 'failed'), file('passed', 'passed')],
  };
  expect(summarise(report, 0)).toEqual({ line: '2 passed, 1 failed', ok: false });
});

test('the summary of tests counts a file that fails outside its tests as a failure', () => {
  const report = { success: false, testResults: [file('failed'), file('passed', 'passed')] };
  expect(summarise(report, 0)).toEqual({ line: '1 passed, 1 failed', ok: false });
});

test('the summary of tests counts a run that fails outside every file as a failure', () => {
  expect(summarise({ success: false, testResults: [file('passed', 'passed')] }, 0).ok).toBe(false);
});

test('the summary of tests does not call a run without tests a success', () => {
  expect(summarise({ success: true, testResults: [] }, 0)).toEqual({ line: '0 passed, 0 failed', ok: false });
});

test('the summary of tests counts a failed step as a failure, tests or not', () => {
  const report = { success: true, testResults: [file('passed', 'passed')] };
  expect(summarise(report, 2)).toEqual({ line: '1 passed, 2 failed', ok: false });
});

test('the summary of tests counts a report that is missing, and tells what the others have', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-reports-'));
  try {
    const [one, other] = [join(folder, 'one.json'), join(folder, 'other.json')];
    writeFileSync(one, JSON.stringify({ success: false, testResults: [file('failed', 'passed', 'failed')] }));
    const { report, missing } = readReports([one, other]);
    expect(missing).toBe(1);
    expect(failuresOf(report)).toHaveLength(1);
    expect(summarise(report, missing)).toEqual({ line: '1 passed, 2 failed', ok: false });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the summary of tests tells what failed, without colours and cut', () => {
  const failed = {
    status: 'failed',
    fullName: 'a b',
    failureMessages: [`\u001b[31mwrong${'x'.repeat(2000)}`],
  };
  const report = {
    success: false,
    testResults: [
      { name: 'one.test.ts', status: 'failed', assertionResults: [{ status: 'passed' }, failed] },
      { name: 'two.test.ts', status: 'failed', message: 'no such module', assertionResults: [] },
      file('passed', 'passed'),
    ],
  };
  expect(failuresOf(report)).toEqual([
    `✗ one.test.ts: a b\nwrong${'x'.repeat(1495)} …`,
    '✗ two.test.ts: (outside its tests)\nno such module',
  ]);
});

test('the script .ci/run runs every part of npm run check', () => {
  const root = new URL('..', import.meta.url);
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const run = readFileSync(new URL('.ci/run', root), 'utf8');
  const parts: string[] = scripts.check.split(' && ');
  // The tests run through `npm test`, as README says. Nothing depends on the coverage, which costs time.
  const [tests, ...others] = [parts.pop()?.replace('vitest run --coverage', 'npm test --') ?? '', ...parts];
  expect(others.length).toBeGreaterThan(0);
  for (const part of [tests, 'npm run test:thorough --', ...others]) expect(run).toContain(part);
});
