/** Every promise of the README names an existing test. */
import { existsSync, readFileSync } from 'node:fs';
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
