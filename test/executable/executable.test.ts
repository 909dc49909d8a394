/**
 * The executable, as it is typed: in any folder, with its output in a pipe. Each command that prints data prints nothing
 * else, and every command has a help.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../simulator/hookrail.ts';
import { foundDataDir, rememberSandbox } from '../../simulator/sandbox-place.ts';
import { eventually } from '../support/eventually.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { JSON_COMMANDS, WITHOUT_DATA } from './json-commands.ts';

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

function run(program: string, args: readonly string[], environment: object = {}): Promise<Finished> {
  const env = { ...shell, ...environment };
  const child = spawn(program, args, { cwd: elsewhere, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      written[name] += chunk;
    });
  }
  return new Promise((done) => child.once('close', (code) => done({ code, ...written })));
}

const hookrail = (line: string, environment?: object) => run('hookrail', line.split(' '), environment);

let sandbox: ChildProcess;
const known: Record<string, string> = {
  folder,
  entity: randomUUID(),
  secret: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
};
const KAFKA = {
  HOOKRAIL_ENGINE: 'kafka',
  HOOKRAIL_KAFKA_BROKERS: 'localhost:1',
  HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://localhost:1',
};

beforeAll(async () => {
  for (const path of ['bin', 'elsewhere']) mkdirSync(join(folder, path));
  symlinkSync(BIN, join(folder, 'bin', 'hookrail'));
  sandbox = spawn('hookrail', ['start', '--output', 'ndjson'], {
    cwd: folder,
    env: {
      ...shell,
      HOOKRAIL_API_PORT: '0',
      HOOKRAIL_CONSOLE_URL: 'https://hooks.example.com/console',
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
  writeFileSync(join(folder, 'headers.json'), '{"webhook-id": "x"}');
  writeFileSync(join(folder, 'body'), '{}');
  await publishUnroutable();
}, 150_000);

/** Publishes an event that goes to quarantine. */
async function publishUnroutable(): Promise<void> {
  const access = parseEnv(readFileSync(join(folder, 'data', 'sandbox.env'), 'utf8'));
  const { status } = await fetch(`${access.HOOKRAIL_BASE_URL}/producer/events`, {
    method: 'POST',
    headers: {
      authorization: `API-Key ${access.HOOKRAIL_PRODUCER_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(jsonEventOf(randomUUID(), 'unroutable')),
  });
  expect(status).toBe(202);
}

afterAll(async () => {
  const ended = new Promise((done) => sandbox.once('exit', done));
  sandbox.kill('SIGINT');
  await ended;
  rmSync(folder, { recursive: true });
}, 30_000);

describe('in another folder, with a pipe, only data is on standard output of', () => {
  test.each(JSON_COMMANDS)('hookrail $line', { timeout: 60_000 }, async (command) => {
    const line = command.line.replace(/\{(\w+)\}/g, (_, name) => known[name] ?? `{${name}}`);
    const { code, stdout, stderr } = await hookrail(`${line} --output json`, command.onKafka ? KAFKA : {});
    expect([code, stderr]).toEqual(command.fails ? [1, expect.stringContaining('{"error":')] : [0, '']);
    const printed = JSON.parse(command.fails === 'error' ? stderr : stdout);
    expect(printed).toBeInstanceOf(Object);
    for (const [name, pick] of Object.entries(command.keeps ?? {})) known[name] = pick(printed);
  });

  test('every command that there is', async () => {
    const all: string[] = [];
    const visit = async (command: string) => {
      const { stdout } = await typed(`${command} --help`, 80);
      const names = commandsIn(stdout);
      if (names.length === 0) all.push(command);
      for (const name of names) await visit(name);
    };
    await visit('');
    const isTried = (command: string) =>
      JSON_COMMANDS.some(({ line }) => `${line} `.startsWith(`${command} `));
    expect(all.filter((command) => !isTried(command)).sort()).toEqual(Object.keys(WITHOUT_DATA).sort());
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

test('the file that says where the sandbox is holds its process and a path, for its owner only', () => {
  const file = join(folder, '.local', 'state', 'hookrail', 'sandbox');
  expect(readFileSync(file, 'utf8').replace(/^\d+ /, '')).toBe(`${join(folder, 'data')}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('in production no command turns to the sandbox', () => {
  const environment = { XDG_STATE_HOME: join(folder, 'state') };
  rememberSandbox(join(folder, 'data'), environment);
  expect(foundDataDir(environment).dataDir).toBe(join(folder, 'data'));
  expect(foundDataDir({ ...environment, HOOKRAIL_ENVIRONMENT: 'production' }).dataDir).toBe('./data');
});

/** Types a line without a process. */
async function typed(line: string, columns?: number, environment = {}): Promise<Finished> {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text;
    },
    ...(columns === undefined ? {} : { isTTY: true, columns }),
  });
  const { signal } = new AbortController();
  const [name = '', ...args] = line.split(' ').filter((word) => word !== '');
  const surroundings = { environment, stdout: into('stdout'), stderr: into('stderr'), signal };
  return { code: await runTool(name, args, surroundings), ...written };
}

/** Returns the commands that a help lists. A name that is longer than half a line goes on in the next one. */
function commandsIn(help: string): string[] {
  const names: string[] = [];
  for (const line of (/^Commands:\n((?: .*\n?)+)/m.exec(help)?.[1] ?? '').split('\n')) {
    const name = /^ {2}(?:npx --no )?hookrail (.*?)(?: {2}.*)?$/.exec(line)?.[1];
    const rest = /^ {2}(\S.*?)(?: {2}.*)?$/.exec(line)?.[1];
    if (name !== undefined) names.push(name);
    else if (rest !== undefined) names.push(`${names.pop()} ${rest}`);
  }
  return names.map((name) => name.replace(/ [<[].*/, ''));
}

test.each([
  ['hookrail', {}],
  ['npx --no hookrail', { npm_lifecycle_event: 'npx' }],
])(
  'every command has a help that fits a terminal and says %s',
  async (program, environment) => {
    const helps: string[] = [];
    const visit = async (command: string) => {
      const { code, stdout, stderr } = await typed(`${command} --help`, 80, environment);
      expect([command, code, stderr]).toEqual([command, 0, '']);
      expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
      const named = [...stdout.matchAll(/^ {2}((?:npx --no )*hookrail) (?!completion)/gm)].map(
        ([, name]) => name,
      );
      expect(named.filter((name) => name !== program)).toEqual([]);
      helps.push(command);
      for (const name of commandsIn(stdout)) await visit(name);
    };
    await visit('');
    const some = [
      'start',
      'serve',
      'completion',
      'sim run',
      'sim endpoints rotate',
      'operator keyring rewrap',
    ];
    expect(helps).toEqual(expect.arrayContaining(some));
  },
  60_000,
);

describe('a dead end outside `hookrail sim` names the command that helps:', () => {
  test('the service of a sandbox is on another operations port', async () => {
    const line = 'operator quarantine list';
    const stuck = await hookrail(line, { HOOKRAIL_OPS_PORT: '1' });
    expect([stuck.code, stuck.stderr]).toEqual([
      1,
      expect.stringContaining('127.0.0.1:1 (HOOKRAIL_OPS_PORT)'),
    ]);
    const right = /^ {2}→ HOOKRAIL_OPS_PORT=(\d+) hookrail (operator status)$/m.exec(stuck.stderr) ?? [];
    const helped = await hookrail(right[2] ?? 'nothing', { HOOKRAIL_OPS_PORT: right[1] });
    expect([helped.code, helped.stderr]).toEqual([
      0,
      expect.stringMatching(/^using the sandbox that runs, \S+ .*\n$/),
    ]);
    // The sandbox wrote where it is: nobody needs to say so.
    expect((await hookrail(line)).code).toBe(0);
  });

  test('`npm run sim` in the folder of a project of one’s own', async () => {
    writeFileSync(join(elsewhere, 'package.json'), '{"name": "shop"}');
    const stuck = await run('npm', ['run', 'sim', '--', 'endpoints', 'list']);
    expect([stuck.code, stuck.stderr]).toEqual([1, expect.stringContaining('Missing script: "sim"')]);
    const helped = await hookrail('sim endpoints list');
    expect([helped.code, helped.stdout]).toEqual([0, expect.stringContaining('https://')]);
  });
});

describe('a mistyped command leads to the right one:', () => {
  test.each([
    ['strat', 'hookrail start'],
    ['trigger KYC', 'hookrail sim trigger KYC'],
    ['listen 3000', 'hookrail sim listen --forward-to 3000'],
    ['version', 'hookrail --version'],
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
