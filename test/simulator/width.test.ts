/**
 * Guarantee: in a terminal of 80 columns no line of the command line wraps: helps, tables, live lines, remarks, advice. A
 * pipe gets whole lines, and nothing that moves.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { Output } from '../../simulator/output.ts';
import { openAuthority } from '../../simulator/receiver/certificate-authority.ts';
import { forTerminal } from '../../simulator/terminal/colours.ts';
import { foldProse, layout } from '../../simulator/terminal/width.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';
import { accessTo, simHere, startSim } from './support/command-line.ts';

const withoutColours = (text: string) => stripVTControlCharacters(forTerminal(text, true));

const WIDTH = 80;
/** The sequence that erases the spinner's line. */
const ERASE = '\r\u001b[2K';

let setup: ServiceSetup;
let hookrail: Hookrail;
let dir: string;
let access: Record<string, string>;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hookrail-width-'));
  await openAuthority(dir);
  setup = await prepareSetup({
    HOOKRAIL_LOG_LEVEL: 'silent',
    HOOKRAIL_EXTRA_CA_FILE: join(dir, 'ca.crt'),
    HOOKRAIL_RETRY_SCALE: '10',
  });
  hookrail = await startHookrail(setup.environment);
  access = accessTo(setup, hookrail, dir);
});

afterAll(async () => {
  await hookrail?.stop();
  for (const each of [setup.dataDir, dir]) rmSync(each, { recursive: true });
});

/** Returns the lines that a terminal shows at any time, those of the spinner too. */
function linesOf(text: string): readonly string[] {
  return text
    .replaceAll(ERASE, '\n')
    .split('\n')
    .map((line) => stripVTControlCharacters(line));
}

const tooLong = (text: string) => linesOf(text).filter((line) => line.length > WIDTH);

/** Runs a command in a terminal; every line must fit. */
async function shown(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await simHere(args, access, WIDTH);
  expect(tooLong(stdout), args.join(' ')).toEqual([]);
  expect(tooLong(stderr), args.join(' ')).toEqual([]);
  return stripVTControlCharacters(stdout + stderr);
}

/** Returns the commands that a help lists below "Commands:". */
function commandsIn(help: string): readonly string[] {
  const [, list = ''] = /^Commands:\n((?: .*\n?)+)/m.exec(help) ?? [];
  return [...list.matchAll(/^ {2}hookrail sim (.*?)(?: [<[].*|(?: {2}.*)?)$/gm)].map(([, name = '']) => name);
}

test('the help of every command fits a terminal, and a pipe gets the same', async () => {
  const helps: string[] = [];
  const visit = async (path: readonly string[]) => {
    const help = await shown(...path, '--help');
    helps.push(path.join(' '));
    expect((await simHere([...path, '--help'])).stdout).toBe(help);
    for (const name of commandsIn(help)) await visit(name.split(' '));
  };
  await visit([]);
  expect(helps).toEqual(expect.arrayContaining(['run', 'endpoints create', 'deliveries get', 'whoami']));
  expect(helps.length).toBeGreaterThan(20);
});

test('the help of trigger has every subType, as the advice about an unknown one says', async () => {
  const help = await shown('trigger', '--help');
  for (const name of ['CRYPTO_TRANSFER_ISSUED', 'FULL_USER', 'AML_CHECKS_COMPLETED']) {
    expect(help).toContain(name);
  }
});

describe('on a terminal of 80 columns', () => {
  test('lists, tables, live lines and advice fit', async () => {
    const receiver = startSim(['receiver', '--fail-first', '1', '--output', 'ndjson'], access);
    try {
      const { listening } = JSON.parse(await receiver.line('listening'));
      const long = 'a receiver with a description that is longer than what is left of the line';
      const made = await shown('endpoints', 'create', '--url', listening, '--description', long);
      const [uuid = ''] = /[\da-f]{8}-[\da-f-]{27}/.exec(made) ?? [];
      await shown('endpoints', 'create', '--url', 'https://localhost:9/refused');
      await shown('endpoints', 'list');
      await shown('endpoints', 'get', uuid);
      await shown('endpoints', 'update', uuid, '--events', 'KYC,KYB,fiatToCrypto,cryptoToFiat,AML');
      await shown('endpoints', 'test', uuid);
      const played = await shown('run', 'onramp.happy', '--speed', '10x', '--wait', '3s');
      expect(played).toMatch(
        /✗ fiatToCrypto\/SUCCESS {2}a receiver with a descr…\n {11}500 in \d+ ms, retry in /,
      );
      expect(played).toContain('nothing listens at localhost:9');
      const { stdout } = await simHere(
        ['deliveries', 'list', '--endpoint', uuid, '--output', 'json'],
        access,
      );
      const [{ delivery_uuid: delivery, event_uuid: event }] = JSON.parse(stdout);
      await shown('deliveries', 'list');
      await shown('deliveries', 'get', delivery);
      await shown('deliveries', 'resend', delivery);
      await shown('deliveries', 'tail', '--since', '1h', '--for', '1s');
      await shown('deliveries', 'replay', 'localhost:9/refused', '--since', '1h');
      await shown('missed');
      await shown('events', 'get', event);
      await shown('events', 'list');
      await shown('scenarios', 'list');
      // Its table; below it is the file, as it is.
      const scenario = await simHere(['scenarios', 'show', 'onramp.hold-kyc-resume'], access, WIDTH);
      expect(tooLong(scenario.stdout.split('\nname: ', 1)[0] ?? '')).toEqual([]);
      await shown('whoami');
      await shown('endpoints', 'create', '--url', 'http://localhost:9/a/path/that/is/long');
      await shown('endpoints', 'test', uuid, 'fiatToCrypto/CRYPTO_TRANSFER_ISSUED');
      await shown('endpoints', 'rm', uuid);
    } finally {
      receiver.process.kill('SIGINT');
      await receiver.finished;
    }
  }, 60_000);

  test('a wait shows a spinner with a countdown, which is erased before the next line', async () => {
    const { stdout, stderr } = await simHere(
      ['run', 'kyc.happy', '--speed', '4x', '--wait', '1s'],
      access,
      WIDTH,
    );
    expect(stderr).toMatch(/⠋ next: KYC\/\w+ in \d+ s/);
    expect(stderr.split(ERASE).at(-1)).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    expect(stdout).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  }, 30_000);
});

test('a pipe gets no spinner', async () => {
  const { stdout, stderr } = await simHere(['run', 'kyc.happy', '--speed', '4x', '--wait', '1s'], access);
  expect(stdout + stderr).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏\r]/);
}, 30_000);

describe('text that is too long for a line', () => {
  const painted = (text: string) =>
    new Output(
      { write: () => {}, isTTY: true },
      { write: () => {} },
      { format: 'pretty', quiet: false, color: true },
    ).paint('green', text);

  test('breaks between words, and a word that is longer stays whole', () => {
    expect(foldProse('one two three', 8)).toBe('one two\n  three');
    expect(foldProse('https://long.example.com/hook is it', 10)).toBe(
      'https://long.example.com/hook\n  is it',
    );
  });

  test('continues a command as a shell reads it', () => {
    expect(foldProse('  → put it right: hookrail sim endpoints test 1 --event KYC/FULL_USER', 40)).toBe(
      '  → put it right:\n    hookrail sim endpoints test 1 \\\n        --event KYC/FULL_USER',
    );
    expect(foldProse('  → hookrail sim run onramp.happy', 24)).toBe(
      '  → hookrail sim run \\\n      onramp.happy',
    );
  });

  test('goes below in a table or a row, whatever its colours', () => {
    const rows = [
      ['a', painted('active'), 'two words'],
      ['bb', painted('off'), 'x'],
    ];
    expect(withoutColours(layout.columns(rows))).toBe('a   active  two words\nbb  off     x');
    expect(withoutColours(layout.columns(rows, 20))).toBe('a   active\n    two words\nbb  off     x');
    expect(layout.columns([['label', 'one two three four five six']], 24)).toBe(
      'label  one two three\n       four five six',
    );
    expect(layout.foldRow(['one', painted('two'), 'three'], 10, 2)).toBe(`one  ${painted('two')}\n  three`);
  });
});
