/** A command that is given no data directory uses one sandbox, says which and why, and never one of several. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EXIT } from '../../simulator/exit.ts';
import { runTool } from '../../simulator/hookrail.ts';
import { foundDataDir, rememberSandbox } from '../../simulator/sandbox-place.ts';
import { simHere } from '../simulator/support/command-line.ts';

const checkout = process.cwd();
const RUNS = process.pid;
/** The id of a process that has ended. */
const ENDED = spawnSync(process.execPath, ['--version']).pid;
let folder: string;
let environment: Record<string, string>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-place-'));
  environment = { XDG_STATE_HOME: join(folder, 'state') };
  mkdirSync(join(folder, 'here'));
  process.chdir(join(folder, 'here'));
});

afterEach(() => {
  process.chdir(checkout);
  rmSync(folder, { recursive: true });
});

function sandbox(name: string, port: number, pid: number): string {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'sandbox.env'), `HOOKRAIL_BASE_URL=http://127.0.0.1:${port}\n`, {
    mode: 0o600,
  });
  rememberSandbox(dataDir, environment, pid);
  return dataDir;
}

test('nothing is said of the sandbox in this folder, nor of one that is named', () => {
  sandbox('other', 9001, RUNS);
  expect(foundDataDir({ ...environment, HOOKRAIL_DATA_DIR: '/given' })).toEqual({
    dataDir: '/given',
    why: null,
  });
  mkdirSync('data');
  writeFileSync('data/sandbox.env', '');
  expect(foundDataDir(environment)).toEqual({ dataDir: './data', why: null });
});

test('the one that runs is used, although another was started later', () => {
  const running = sandbox('running', 9001, RUNS);
  sandbox('ended', 9002, ENDED);
  expect(foundDataDir(environment)).toEqual({
    dataDir: running,
    why: `using the sandbox that runs, ${running} (port 9001)`,
  });
});

test('where none runs, the one that was started last is used', () => {
  sandbox('first', 9001, ENDED);
  const last = sandbox('last', 9002, ENDED);
  expect(foundDataDir(environment)).toEqual({
    dataDir: last,
    why: `using the sandbox that was started last, ${last} (port 9002)`,
  });
});

test('several that run are named, and none is used', async () => {
  const one = sandbox('one', 9001, RUNS);
  const other = sandbox('other', 9002, RUNS);
  expect(() => foundDataDir(environment)).toThrow(
    `several sandboxes run, and none is in this folder: ${other} (port 9002), ${one} (port 9001)`,
  );
  const { code, stderr } = await simHere(['endpoints', 'delete', 'x'], environment);
  expect([code, stderr]).toEqual([EXIT.usage, expect.stringContaining(`--data-dir ${other}`)]);
});

test('several that run are no matter for an operator who names the data directory, or asks for help', async () => {
  sandbox('one', 9001, RUNS);
  sandbox('other', 9002, RUNS);
  const type = async (line: string) => {
    const written: string[] = [];
    const into = { write: (text: string) => written.push(text) };
    const { signal } = new AbortController();
    const code = await runTool('operator', line.split(' '), {
      environment,
      stdout: into,
      stderr: into,
      signal,
    });
    return { code, stderr: written.join('') };
  };
  expect(await type('merchants list')).toEqual({
    code: EXIT.usage,
    stderr: expect.stringContaining('several sandboxes run'),
  });
  for (const line of [
    'merchants list --data-dir given',
    'merchants list --data-dir=given',
    'merchants --help',
  ])
    expect((await type(line)).stderr, line).not.toContain('sandboxes run');
});

test('HOOKRAIL_API_PORT chooses one of several', () => {
  const one = sandbox('one', 9001, RUNS);
  sandbox('other', 9002, RUNS);
  expect(foundDataDir({ ...environment, HOOKRAIL_API_PORT: '9001' })).toEqual({
    dataDir: one,
    why: `using the sandbox that runs, ${one} (port 9001)`,
  });
  expect(() => foundDataDir({ ...environment, HOOKRAIL_API_PORT: '9003' })).toThrow('several sandboxes run');
});

test('a command says on standard error which sandbox it uses, for people only', async () => {
  const dataDir = sandbox('running', 9, RUNS);
  const said = `using the sandbox that runs, ${dataDir} (port 9)\n`;
  expect((await simHere(['whoami'], environment)).stderr).toContain(said);
  expect((await simHere(['whoami', '--output', 'json'], environment)).stderr).not.toContain('using');
  expect((await simHere(['whoami', '--quiet'], environment)).stderr).not.toContain('using');
});
