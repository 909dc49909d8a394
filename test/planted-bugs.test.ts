/**
 * `npm run planted` plants bugs and expects the tests to find them: each can be planted, and its verdict is right.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLANTED_BUGS } from '../scripts/planted/all-bugs.ts';
import { findBug } from '../scripts/planted/find-bug.ts';
import { type PlantedBug, plant } from '../scripts/planted/planted-bug.ts';
import { endOf } from '../scripts/planted/run-tests.ts';
import { WorkingCopy } from '../scripts/planted/working-copy.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CONTRACTS = readdirSync(`${ROOT}test/contract`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `test/contract/${name}`);
const textOf = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8');

test('every planted bug has an id of its own', () => {
  expect(new Set(PLANTED_BUGS.map(({ id }) => id)).size).toBe(PLANTED_BUGS.length);
});

test.each(PLANTED_BUGS)('the bug $id can be planted, and its test exists', (bug) => {
  expect(() => plant(bug, textOf(bug.file))).not.toThrow();
  expect(existsSync(`${ROOT}${bug.test}`)).toBe(true);
  // A suite that several engines pass has its titles in test/contract.
  const texts = [bug.test, ...CONTRACTS].map(textOf);
  expect(texts.some((text) => text.includes(bug.title ?? ''))).toBe(true);
  // A placeholder is in no title that is run.
  expect(bug.title ?? '').not.toContain('%');
});

describe('a planted bug', () => {
  let copy: WorkingCopy;
  beforeAll(() => {
    copy = new WorkingCopy(ROOT);
  });
  afterAll(() => copy.remove());

  const bug: PlantedBug = {
    id: 'four-for-two',
    bug: 'a retry comes two seconds late',
    file: 'services/domain/retry.ts',
    text: 'retry ** 6 + 2',
    replacement: 'retry ** 6 + 4',
    test: 'test/domain/schedule.test.ts',
    title: 'is the specification’s table',
  };
  // The runner of this test says where its workers are.
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS|TEST$)/.test(name)),
  );
  const verdictOf = async (change: Partial<PlantedBug>) => findBug(copy, { ...bug, ...change }, environment);

  test('is caught when a test finds it, and the copy is restored', { timeout: 120_000 }, async () => {
    expect(await verdictOf({})).toMatchObject({
      verdict: 'caught',
      detail: expect.stringContaining('AssertionError'),
    });
    expect(readFileSync(`${copy.folder}/${bug.file}`, 'utf8')).toBe(textOf(bug.file));
  });

  test('is not caught when no test finds it', { timeout: 120_000 }, async () => {
    expect((await verdictOf({ replacement: '2 + retry ** 6' })).verdict).toBe('NOT CAUGHT');
  });

  test('shows nothing when it breaks the code, meets no test or has no place', {
    timeout: 120_000,
  }, async () => {
    for (const change of [
      { replacement: 'retries ** 6 + 2' },
      { replacement: 'retry **' },
      { title: 'no such title' },
      { text: 'no such text' },
    ]) {
      expect((await verdictOf(change)).verdict).toBe('cannot be planted');
    }
  });
});

test('a time-out counts as a finding of a planted bug, an error of the run does not', () => {
  const resultOf = (status: string, ...failureMessages: string[]) => ({
    message: '',
    assertionResults: [{ status, title: 'a title', failureMessages }],
  });
  const late = resultOf('failed', 'Error: Test timed out in 30000ms.\n  at');
  expect(endOf({ success: false, testResults: [late] })).toEqual({
    kind: 'failed',
    detail: 'a title: Error: Test timed out in 30000ms.',
  });
  expect(endOf({ success: false, testResults: [resultOf('passed')] }).kind).toBe('broken');
  expect(endOf({ success: true, testResults: [resultOf('passed')] }).kind).toBe('passed');
});
