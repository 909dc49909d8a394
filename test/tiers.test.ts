/** Every suite is in a tier, `npm test` has each topology, the API's fuzzing and the browser, and CONTRIBUTING says why. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isIn, THOROUGH, tierOf } from './tiers.ts';

const paths = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((path) => path.endsWith('.test.ts'));

test('every suite is in one tier', () => {
  expect(paths.filter((path) => isIn('quick', path) === isIn('thorough', path))).toEqual([]);
  expect(paths.every((path) => isIn('all', path))).toBe(true);
});

test.each([
  ['the embedded engine', 'test/guarantees/kill-loop.test.ts'],
  ['the contract of the store on SQLite', 'test/store/sqlite/contract.test.ts'],
  ['Kafka', 'test/guarantees/kafka/recovery.test.ts'],
  ['the contract of the Kafka engine', 'test/broker/kafka/contract.test.ts'],
  ['Kafka with PostgreSQL', 'test/guarantees/postgres/same-answers.test.ts'],
  ['the contract of the store on PostgreSQL', 'test/store/postgres/contract.test.ts'],
  ['the API under generated requests', 'test/api/schemathesis.test.ts'],
  ['the reference in a browser', 'test/docs/reference-in-browser.test.ts'],
])('the quick tier has %s', (_what, path) => {
  expect(paths).toContain(path);
  expect(isIn('quick', path)).toBe(true);
});

test.each(THOROUGH)('the thorough tier has $what, and CONTRIBUTING says why', ({ what, suites, why }) => {
  const names = paths.map((path) => path.slice('test/'.length, -'.test.ts'.length));
  expect(names.filter((name) => suites.test(name)).length).toBeGreaterThan(0);
  expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain(`| ${what} | ${why} |`);
});

test('an unknown tier is refused, and none given means all', () => {
  expect(() => tierOf('fast')).toThrow('TEST_TIER must be one of quick, thorough, all, not "fast"');
  expect(tierOf('')).toBe('all');
  expect(tierOf(undefined)).toBe('all');
});
