/** A developer starts a scenario from a commented file, draws it, and pipes it: a lone dash is standard input everywhere. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MACHINES } from '../../../services/domain/catalog/machines.ts';
import { EXIT } from '../../../simulator/exit.ts';
import { scenarioNames } from '../../../simulator/scenario/library.ts';
import { BUILT } from '../../support/built/modules.ts';
import { simHere } from '../support/command-line.ts';
import { webhookHeaders } from '../support/https-request.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-new-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

test('a new scenario is valid as it is written, and an existing file is never replaced', async () => {
  const file = join(folder, 'my.flow.yaml');
  const made = await simHere(['scenarios', 'new', 'my.flow', '--out', file]);
  expect([made.code, made.stdout]).toEqual([EXIT.ok, `✓ ${file}\n`]);
  const [first = '', second] = readFileSync(file, 'utf8').split('\n');
  const schema = JSON.parse(readFileSync(/\$schema=(.*)$/.exec(first)?.[1] ?? '', 'utf8'));
  expect([second, schema.title]).toEqual(['name: my.flow', 'hookrail scenario']);
  expect((await simHere(['scenarios', 'validate', file])).code).toBe(EXIT.ok);
  writeFileSync(file, 'mine');
  const again = await simHere(['scenarios', 'new', 'my.flow', '--out', file]);
  expect([again.code, again.stderr]).toEqual([EXIT.usage, expect.stringContaining('exists already')]);
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test.each([
  ['My Flow', /lower-case words/],
  ['kyc.happy', /comes with hookrail.*new my\.kyc\.happy/s],
])('a scenario cannot be called %s', async (name, message) => {
  const { code, stderr } = await simHere(['scenarios', 'new', name]);
  expect([code, stderr]).toEqual([EXIT.usage, expect.stringMatching(message)]);
});

test.each(Object.keys(MACHINES))('the graph of %s has every move of its machine', async (type) => {
  const { stdout } = await simHere(['scenarios', 'graph', type]);
  const moves = Object.entries(MACHINES[type] ?? {}).flatMap(([from, states]) =>
    states.map((to) => `  ${from === 'start' ? '[*]' : from} --> ${to}`),
  );
  expect(stdout).toMatch(/^---\ntitle: \w+\n---\nstateDiagram-v2\n/);
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(moves));
});

test('the graph of a scenario has its steps in order', async () => {
  const { stdout } = await simHere(['scenarios', 'graph', 'offramp.bank-return']);
  expect(stdout.split('\n').slice(4)).toEqual([
    '  [*] --> PENDING : 1 created',
    '  PENDING --> IN_PROGRESS : 2 received',
    '  IN_PROGRESS --> FIAT_TRANSFER_ISSUED : 3 issued',
    '  FIAT_TRANSFER_ISSUED --> FAILED : 4 returned',
    '  FAILED --> REFUNDED : 5 refunded',
    '',
  ]);
  for (const name of scenarioNames())
    expect((await simHere(['scenarios', 'graph', name])).code).toBe(EXIT.ok);
  const wrong = await simHere(['scenarios', 'graph', 'KYCC']);
  expect([wrong.code, wrong.stderr]).toEqual([EXIT.usage, expect.stringContaining('did you mean KYC')]);
});

/** Runs a command with text on its standard input. */
function piped(args: readonly string[], input: string): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, [BUILT.simulator, ...args], {
    env: { PATH: process.env.PATH },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, text })));
}

const FLOW = `name: piped
steps:
  - { id: needed, emit: KYC/KYC_NEEDED }
`;

test.each<[string[], number, RegExp]>([
  [['scenarios', 'validate', '-'], EXIT.ok, /✓ -/],
  [['scenarios', 'show', '-'], EXIT.ok, /piped.*needed +at once +KYC\/KYC_NEEDED/s],
  [['scenarios', 'graph', '-'], EXIT.ok, /title: piped/],
  [['run', '-', '--dry-run'], EXIT.ok, /"KYC_NEEDED"/],
  [['whoami', '-'], EXIT.usage, /"-" is one word too many/],
])('the command %s reads standard input', { timeout: 30_000 }, async (args, code, text) => {
  expect(await piped(args, FLOW)).toEqual({ code, text: expect.stringMatching(text) });
});

test('a broken scenario on standard input is not called valid', { timeout: 30_000 }, async () => {
  const { code, text } = await piped(['scenarios', 'validate', '-'], 'name: broken\n');
  expect([code, text]).toEqual([
    EXIT.usage,
    expect.stringContaining('standard input:1: the scenario has no "steps"'),
  ]);
});

test('verify reads the body from standard input', { timeout: 30_000 }, async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const headers = join(folder, 'headers.json');
  writeFileSync(headers, JSON.stringify(webhookHeaders(secret, '{"type":"KYC"}', 'd')));
  const args = ['verify', '--secret', secret, '--headers', headers, '--body', '-'];
  expect(await piped(args, '{"type":"KYC"}')).toMatchObject({ code: EXIT.ok });
  expect(await piped(args, '{"type":"KYB"}')).toMatchObject({ code: EXIT.expectation });
});
