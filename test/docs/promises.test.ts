/** Every promise of the README names an existing test, and every suite of test/guarantees is in the table of topologies. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');
const [, table = ''] = readme.split('## What is promised');
const shown = [...(table.split('\n## ')[0] ?? '').matchAll(/^\|.*\|\s*(`.*`)\s*\|$/gm)].map(
  ([, cell = '']) => cell,
);

test('the README makes promises', () => {
  expect(shown.length).toBeGreaterThan(5);
});

test.each(shown)('the test of a promise exists: %s', (cell) => {
  for (const [, name = ''] of cell.matchAll(/`([^`]+)`/g)) {
    const path = name.startsWith('test/') ? name : `test/guarantees/${name}.test.ts`;
    expect(existsSync(new URL(path, root)), path).toBe(true);
  }
});

test('the table of promises and topologies has every suite of test/guarantees once', () => {
  const folder = new URL('test/guarantees/', root);
  const suites = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => name.slice(0, -'.test.ts'.length));
  const rows = readFileSync(new URL('README.md', folder), 'utf8').match(/^\| (?!promise \|).*\|$/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => `${name}`));
  expect(named.sort()).toEqual(suites.sort());
});
