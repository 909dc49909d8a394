/**
 * The executable, as it is typed: in any folder, with its output in a pipe. Each command that prints data prints nothing
 * else, and every command has a help.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../simulator/hookrail.ts';
import { rememberSandbox, withSandbox } from '../../simulator/sandbox-place.ts';
import { eventually } from '../support/eventually.ts';

const BIN = resolve('bin/hookrail.mjs');
const folder = mkdtempSync(join(tmpdir(), 'hookrail-executable-'));
const elsewhere = join(folder, 'elsewhere');
/** A user's shell: the executable is on the path, and nothing says where the sandbox is. */
const shell = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder };

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], cwd = elsewhere): Promise<Finished> {
  const child = spawn(program, args, { cwd, env: shell, stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      written[name] += chunk;
    });
  }
  return new Promise((done) => child.once('close', (code) => done({ code, ...written })));
}

const hookrail = (line: string) => run('hookrail', line.split(' '));

let sandbox: ChildProcess;
const known: Record<string, string> = {};

beforeAll(async () => {
  for (const path of ['bin', 'elsewhere']) mkdirSync(join(folder, path));
  symlinkSync(BIN, join(folder, 'bin', 'hookrail'));
  sandbox = spawn('hookrail', ['start', '--output', 'ndjson'], {
    cwd: folder,
    env: {
      ...shell,
      HOOKRAIL_API_PORT: '0',
      HOOKRAIL_OPS_PORT: '0',
      HOOKRAIL_RATE_LIMIT_PER_MINUTE: '10000',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  sandbox.stdout?.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  await eventually('the demo is delivered', () => text.split('"delivered"').length > 4, 100_000);
  const data = async (line: string) => JSON.parse((await hookrail(`${line} --output json`)).stdout);
  const [endpoint] = await data('sim endpoints list');
  const [delivery] = await data('sim deliveries list');
  Object.assign(known, {
    endpoint: endpoint.uuid,
    delivery: delivery.delivery_uuid,
    event: delivery.event_uuid,
  });
}, 150_000);

afterAll(async () => {
  const ended = new Promise((done) => sandbox.once('exit', done));
  sandbox.kill('SIGINT');
  await ended;
  rmSync(folder, { recursive: true });
}, 30_000);

describe('in another folder, with a pipe, only data is on standard output of', () => {
  test.each([
    'sim whoami',
    'sim scenarios list',
    'sim scenarios show onramp.happy',
    'sim scenarios validate onramp.happy',
    'sim run onramp.happy --dry-run',
    'sim run onramp.happy --speed instant',
    'sim trigger KYC/FULL_USER',
    'sim trigger KYC/FULL_USER --wait 20s',
    'sim endpoints list',
    'sim endpoints create --url https://localhost/made',
    'sim endpoints get {endpoint}',
    'sim endpoints update {endpoint} --description again',
    'sim endpoints test {endpoint}',
    'sim deliveries list',
    'sim deliveries get {delivery}',
    'sim events get {event}',
    'sim cert --out made',
    'operator status',
    'operator merchants list',
    'operator keys list',
    'operator keyring list',
    'operator audit list',
    'operator quarantine summary',
    'operator dead-letters list',
    'operator replay list',
    'operator store backup {folder}/store.db',
  ])('hookrail %s', { timeout: 60_000 }, async (line) => {
    const filled = line.replace(/\{(\w+)\}/g, (_, name) => known[name] ?? folder);
    const { code, stdout, stderr } = await hookrail(`${filled} --output json`);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toBeInstanceOf(Object);
  });
});

test('an error is JSON on standard error where JSON is asked for, and names the command', async () => {
  for (const line of [
    'sim endpoints lst --output json',
    'operator merchants lst --output=json',
    'sim run x --output ndjson',
  ]) {
    const { code, stdout, stderr } = await hookrail(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        message: expect.any(String),
        exit_code: 2,
        next: [expect.stringMatching(/hookrail (sim|operator) /)],
      },
    });
  }
}, 60_000);

test('the file that says where the sandbox is holds a path, for its owner only', () => {
  const file = join(folder, '.local', 'state', 'hookrail', 'sandbox');
  expect(readFileSync(file, 'utf8')).toBe(`${join(folder, 'data')}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('in production no command turns to the sandbox', () => {
  const environment = { XDG_STATE_HOME: join(folder, 'state') };
  rememberSandbox(join(folder, 'data'), environment);
  expect(withSandbox(environment).HOOKRAIL_DATA_DIR).toBe(join(folder, 'data'));
  expect(withSandbox({ ...environment, HOOKRAIL_ENVIRONMENT: 'production' }).HOOKRAIL_DATA_DIR).toBe(
    './data',
  );
});

/** Types a line without a process. */
async function typed(line: string, columns?: number): Promise<Finished> {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text;
    },
    ...(columns === undefined ? {} : { isTTY: true, columns }),
  });
  const { signal } = new AbortController();
  const [name = '', ...args] = line.split(' ').filter((word) => word !== '');
  const surroundings = { environment: {}, stdout: into('stdout'), stderr: into('stderr'), signal };
  return { code: await runTool(name, args, surroundings), ...written };
}

const commandsIn = (help: string) =>
  [
    ...(/^Commands:\n((?: .*\n?)+)/m.exec(help)?.[1] ?? '').matchAll(
      /^ {2}hookrail (.*?)(?: [<[].*|(?: {2}.*)?)$/gm,
    ),
  ].map(([, name = '']) => name);

test('every command has a help that fits a terminal', async () => {
  const helps: string[] = [];
  const visit = async (command: string) => {
    const { code, stdout, stderr } = await typed(`${command} --help`, 80);
    expect([command, code, stderr]).toEqual([command, 0, '']);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    helps.push(command);
    for (const name of commandsIn(stdout)) await visit(name);
  };
  await visit('');
  const some = ['start', 'serve', 'completion', 'sim run', 'sim endpoints rotate', 'operator keyring rewrap'];
  expect(helps).toEqual(expect.arrayContaining(some));
}, 60_000);

describe('a mistyped command leads to the right one:', () => {
  test.each([
    ['strat', 'hookrail start'],
    ['trigger KYC', 'hookrail sim trigger --help'],
    ['sim triger KYC', 'hookrail sim trigger KYC'],
    ['sim endpoints lst', 'hookrail sim endpoints list'],
    ['operator merchnts list', 'hookrail operator merchants list'],
    ['operator merchants puase 1', 'hookrail operator merchants pause 1'],
    ['operator status --otput json', 'hookrail operator status --output json'],
    ['start --no-dmo', 'hookrail start --no-demo'],
  ])('hookrail %s', async (line, right) => {
    const { code, stdout, stderr } = await typed(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(`  → ${right}`);
  });
});

describe('a shell completes', () => {
  /** Presses Tab at the end of a line in bash. */
  async function bash(line: string): Promise<readonly string[]> {
    const script = `source <(hookrail completion bash)
      COMP_WORDS=(hookrail "$@"); COMP_CWORD=$#; _hookrail; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = await run('bash', ['-c', script, 'bash', ...line.split(' ')]);
    expect(stderr).toBe('');
    return stdout.trimEnd().split('\n');
  }

  test.each([
    ['st', ['start']],
    ['sim ru', ['run']],
    ['sim endpoints dis', ['disable']],
    ['sim run onramp.ha', ['onramp.happy']],
    ['sim trigger KYC/FULL_U', ['KYC/FULL_USER']],
    ['sim run onramp.happy --see', ['--seed']],
    ['sim deliveries list --status fai', ['failed']],
    ['operator quarantine s', ['summary', 'show']],
    ['operator replay start --only m', ['missing']],
    ['completion z', ['zsh']],
  ])('hookrail %s', async (line, words) => {
    expect(await bash(line)).toEqual(words);
  });
});
