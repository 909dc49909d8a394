/**
 * An operator command is declared in one place, and the command line, the operations server and the documentation follow:
 * with the same arguments, the same checks and the same words of refusal.
 */

import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operatorCommandsTables } from '../../scripts/operator-commands.ts';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { COMMANDS, GROUPS, linesOf } from '../../services/operator/cli/table.ts';
import { on } from '../../services/operator/commands/command.ts';
import { operatorService } from '../../services/operator/commands/operator-service.ts';
import { operatorRoutes } from '../../services/operator/commands/routes.ts';
import { SERVED } from '../../services/operator/commands/served.ts';
import { operatorTokenFile } from '../../services/operator/commands/token-file.ts';
import { runOperator } from '../../services/operator.ts';
import { systemClock } from '../../services/process/clock.ts';
import { systemRandom } from '../../services/process/random.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import { EVERY_MERCHANT } from '../support/records/broker-records.ts';
import { TEST_RING } from '../support/records/key-ring.ts';

const MINUTE_MS = 60_000;

/** One entry: all that a new command takes. */
const GREET = {
  'merchants greet': on('store', {
    describe: 'Greet a merchant',
    args: {
      id: { type: 'text', required: true, positional: true, describe: 'The merchant’s id' },
      times: { type: 'number', most: 3, default: 1, describe: 'How often' },
      mood: { type: 'text', choices: ['glad', 'sad'], describe: 'How it sounds' },
      isLoud: { type: 'flag', describe: 'With capitals' },
    },
    columns: ['at', 'greeting'],
    isNewestFirst: true,
    refuse: ({ mood, isLoud }) => (mood === 'sad' && isLoud ? 'a sad greeting is not loud' : undefined),
    run: async ({ clock }, { id, times, isLoud = false }) =>
      Array.from({ length: times }, (_, index) => ({
        at: new Date(clock.wall() - 3 * index * MINUTE_MS).toISOString(),
        greeting: isLoud ? 'HELLO' : 'hello',
        id,
      })),
  }),
};

let dataDir: string;
let server: Server;
let close = async () => {};
let environment: Record<string, string>;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'hookrail-table-'));
  const clock = systemClock();
  const healthPolicy = { withoutSuccessMs: 86_400_000, failedAttempts: 20 };
  const store = await openSqliteStore({
    file: join(dataDir, 'store.db'),
    clock,
    healthPolicy,
    keyRing: TEST_RING,
  });
  const broker = await openSqliteBroker({ file: join(dataDir, 'broker.db'), clock, retryScale: 1 });
  const means = { store, broker, directory: EVERY_MERCHANT, clock, random: systemRandom };
  const keyRing = () => KeyRing.read(join(dataDir, 'keyring.json'));
  const log = pino({ level: 'silent' });
  const deps = {
    ...means,
    keyRing,
    environment: 'sandbox',
    consoleUrl: null,
    dataDir,
    operatorTokenFile: '',
    log,
  } as const;
  server = createServer(
    express().use('/operator', operatorRoutes(operatorService(deps, { ...SERVED, ...GREET }))),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  environment = { HOOKRAIL_DATA_DIR: dataDir, HOOKRAIL_OPS_PORT: `${port}` };
  close = async () => {
    server.closeAllConnections();
    server.close();
    await broker.close();
    await store.close();
  };
});
afterAll(async () => {
  await close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Types a line of a tool that has the entry. */
async function type(line: string) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runOperator(
    line.split(' '),
    environment,
    (each) => out.push(each),
    (each) => err.push(each),
    { ...COMMANDS, ...GREET },
  );
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** Sends a command to the operations server. */
async function send(command: string, given: object) {
  const token = readFileSync(operatorTokenFile(dataDir), 'utf8').trim();
  const response = await fetch(`http://127.0.0.1:${environment.HOOKRAIL_OPS_PORT}/operator/${command}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(given),
  });
  return { status: response.status, body: (await response.json()) as { result?: unknown; error?: string } };
}

describe('one entry of the table', () => {
  test('is a command line with its help, its table and its JSON', async () => {
    expect((await type('merchants --help')).out).toMatch(/merchants greet <id> +Greet a merchant/);
    expect((await type('merchants greet --help')).out).toMatch(
      /--times +How often +\[number\] \[default: 1\]/,
    );
    const { code, out, err } = await type('merchants greet m1 --times 2 --is-loud');
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n')).toEqual([
      'at         greeting',
      '3 min ago  HELLO     id=m1',
      '0 s ago    HELLO     id=m1',
    ]);
    const json = JSON.parse((await type('merchants greet m1 --output json')).out);
    expect(json).toEqual([{ at: expect.stringMatching(/Z$/), greeting: 'hello', id: 'm1' }]);
  });

  test('is a command of the operations server', async () => {
    const { status, body } = await send('merchants-greet', { id: 'm1', times: 3 });
    expect([status, body.result]).toEqual([200, expect.objectContaining({ length: 3 })]);
  });

  test('is a row of the documentation', () => {
    const rows = operatorCommandsTables({ ...COMMANDS, ...GREET }).split('\n');
    expect(rows.find((row) => row.includes('merchants greet'))).toBe(
      '| `merchants greet <id>` | Greet a merchant | `<id>`: The merchant’s id<br>`--times`: How often; 1 to 3; default `1`' +
        '<br>`--mood`: How it sounds; one of `glad`, `sad`<br>`--is-loud`: With capitals | service, else store |',
    );
  });

  test.each([
    ['merchants greet m1 --times 4', { id: 'm1', times: 4 }, 'times: must be a whole number from 1 to 3'],
    ['merchants greet m1 --times x', { id: 'm1', times: 'x' }, 'times: must be a whole number from 1 to 3'],
    [
      'merchants greet m1 --is-loud --mood sad',
      { id: 'm1', isLoud: true, mood: 'sad' },
      'a sad greeting is not loud',
    ],
    [
      `merchants greet ${'m'.repeat(256)}`,
      { id: 'm'.repeat(256) },
      'id: must be a text of 1 to 255 characters',
    ],
  ])('is refused in the same words everywhere: %s', async (line, given, says) => {
    expect(await type(line)).toEqual({ code: 2, out: '', err: `operator: ${says}` });
    expect(await send('merchants-greet', given)).toEqual({ status: 400, body: { error: says } });
  });

  test.each([
    ['merchants greet', {}, 'id: must be a text of 1 to 255 characters'],
    ['merchants greet m1 --mood odd', { id: 'm1', mood: 'odd' }, 'mood: must be one of glad, sad'],
    [
      'merchants greet m1 --colour red',
      { id: 'm1', colour: 'red' },
      'colour: the command has no such argument',
    ],
  ])('is refused by the parser, and by the server: %s', async (line, given, says) => {
    expect(await type(line)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--help') });
    expect(await send('merchants-greet', given)).toEqual({ status: 400, body: { error: says } });
  });
});

test('a table has at most 80 columns, whatever is in it', async () => {
  for (const name of ['Acme', 'A merchant with a name that is longer than what is left of a line'])
    await type(`merchants create --output json --name=${name.replaceAll(' ', '_')}`);
  const { out } = await type('merchants list');
  expect(out).toMatch(/^merchantId +state\n/);
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(out).toContain('\n    name=A_merchant_with_a_name');
});

test('every command is declared in exactly one file', () => {
  const files = globSync('services/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const declarations = Object.keys(COMMANDS).map((name) => {
    const entry = new RegExp(`^ {2}'?${name}'?: on(?:<[^>]*>)?\\(`, 'gm');
    return [name, files.reduce((sum, text) => sum + [...text.matchAll(entry)].length, 0)] as const;
  });
  expect(declarations.length).toBeGreaterThan(40);
  expect(declarations.filter(([, count]) => count !== 1)).toEqual([]);
});

test('every group of commands says what it is about, and there is no other', () => {
  const words = [...linesOf(COMMANDS).keys()].filter((word) => !COMMANDS[word]);
  expect(words.sort()).toEqual(Object.keys(GROUPS).sort());
});
