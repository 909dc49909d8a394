/** Guarantee: servers that tests and scripts start do not outlive the process that started them, however that ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeWherePostgresStarts } from '../support/postgres/suites.ts';

/** Guards a folder and two processes, one as spawnGuarded starts it, and tells their numbers. */
const OWNER = `
  import { spawn } from 'node:child_process';
  import { Guard, spawnGuarded } from './scripts/guard/guard.ts';
  const guard = new Guard();
  guard.removeAtEnd(process.argv[1]);
  const long = ['-e', 'setTimeout(() => {}, 300_000)'];
  const child = spawn(process.execPath, long, { detached: true });
  guard.watch(child.pid);
  console.log(JSON.stringify([child.pid, spawnGuarded(process.execPath, long, { detached: true }).pid]));
  setTimeout(() => {}, 300_000);
`;

/** Starts PostgreSQL, and tells its number and its folder. */
const POSTGRES = `
  import { startLocalPostgres } from './scripts/local-postgres/server.ts';
  const { pid, folder } = await startLocalPostgres({ environment: process.env });
  console.log(JSON.stringify([pid, folder]));
  setTimeout(() => {}, 300_000);
`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Runs a module that tells one line of JSON, and returns it with the process. */
async function owner(module: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', module, ...args]);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, told: JSON.parse(line) };
}

test.each(['SIGKILL', 'SIGINT'] as const)(
  'guarded processes and folders end with their owner: %s',
  async (how) => {
    const folder = mkdtempSync(join(tmpdir(), 'hookrail-guarded-'));
    const { child, told } = await owner(OWNER, folder);
    expect(told.map(isRunning)).toEqual([true, true]);
    child.kill(how);
    await eventually('the guarded processes are gone', () => !told.some(isRunning));
    await eventually('the guarded folder is gone', () => !existsSync(folder));
  },
);

test('a guard does not keep its process alive', async () => {
  const { child } = await owner(`
    import { Guard, spawnGuarded } from './scripts/guard/guard.ts';
    Guard.ofProcess();
    spawnGuarded(process.execPath, ['-e', 'setTimeout(() => {}, 300_000)'], { stdio: 'ignore' }).unref();
    console.log('[]');
  `);
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(0);
});

describeWherePostgresStarts('a local PostgreSQL', () => {
  test('ends, and leaves no files, when its owner is killed', async () => {
    const { child, told } = await owner(POSTGRES);
    const [pid, folder] = told;
    expect(isRunning(pid)).toBe(true);
    child.kill('SIGKILL');
    await eventually('the server is gone', () => !isRunning(pid));
    await eventually('its folder is gone', () => !existsSync(folder));
  });
});
