/**
 * Libraries of which parts are used that their documentation does not promise are pinned to the versions that
 * docs/library-internals.md names.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
const named = [...read('docs/library-internals.md').matchAll(/^## (\S+) (\S+)$/gm)].map(
  ([, name = '', version = '']) => [name, version] as const,
);

test('the page on library internals names libraries', () => {
  expect(named.map(([name]) => name)).toEqual(expect.arrayContaining(['kafkajs', 'avsc']));
});

test.each(named)('the library %s is pinned to %s, in package.json and as installed', (name, version) => {
  expect(dependencies[name]).toBe(version);
  expect(JSON.parse(read(`node_modules/${name}/package.json`)).version).toBe(version);
});
