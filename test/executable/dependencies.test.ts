/** A fresh clone installs what runs hookrail, and the test tools only where they are needed. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { missingDependencies } from '../../scripts/ensure-dependencies.mjs';

const root = mkdtempSync(join(tmpdir(), 'hookrail-dependencies-'));
const LOCK = {
  '': {},
  'node_modules/express': { version: '5.0.0' },
  'node_modules/fsevents': { version: '2.0.0', optional: true },
  'node_modules/vitest': { version: '4.0.0', dev: true },
};
const ALL = ['ci', '--no-audit', '--no-fund'];

/** Writes what is wanted and what is installed. */
function tree(installed: object | undefined): void {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: LOCK }));
  if (installed === undefined) return;
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }));
}

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('npm start in a fresh clone installs no test tool', () => {
  tree(undefined);
  expect(missingDependencies(root, { withDev: false })).toEqual([...ALL, '--omit=dev']);
});

test('npm test after npm start installs the test tools', () => {
  tree({ 'node_modules/express': { version: '5.0.0' } });
  expect(missingDependencies(root, { withDev: false })).toBeUndefined();
  expect(missingDependencies(root, { withDev: true })).toEqual(ALL);
});

test('a newer version is installed without removing the test tools', () => {
  tree({ 'node_modules/express': { version: '4.0.0' }, 'node_modules/vitest': { version: '4.0.0' } });
  expect(missingDependencies(root, { withDev: false })).toEqual(ALL);
});

test('nothing is installed where all is there', () => {
  const { 'node_modules/express': express, 'node_modules/vitest': vitest } = LOCK;
  tree({ 'node_modules/express': express, 'node_modules/vitest': vitest });
  expect(missingDependencies(root, { withDev: true })).toBeUndefined();
});

test('after a failed installation the next command does not wait for the one that ended', () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, 'dist', '.preparing'), String(pid));
  const module = new URL('../../scripts/one-at-a-time.mjs', import.meta.url);
  const script = `import { oneAtATime } from '${module}'; await oneAtATime('${root}', () => console.log('works'));`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect([ended.status, ended.stdout, ended.stderr]).toEqual([0, 'works\n', '']);
});

test('the scripts that need the test tools ask for them, and those that run hookrail do not', () => {
  const { scripts } = packageJson;
  for (const name of ['pretest', 'prebench', 'prekafka:local', 'prekafka:producers'] as const) {
    expect(scripts[name]).toContain('node scripts/ensure-dependencies.mjs');
  }
  for (const name of ['start', 'sim', 'operator', 'serve'] as const) {
    expect(scripts[name]).toMatch(/^node bin\/hookrail\.mjs \w+$/);
    expect(scripts).not.toHaveProperty(`pre${name}`);
  }
});
