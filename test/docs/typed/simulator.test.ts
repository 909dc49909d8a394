/**
 * Guarantee: the commands of docs/simulator.md work as they are typed. One sandbox serves all; only the numbers of the load
 * are smaller.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { type OwnApp, startOwnApp } from '../../simulator/support/own-app.ts';
import { eventually } from '../../support/eventually.ts';
import { commandsOf } from '../../support/pages/command-blocks.ts';
import { ANY_PORTS, filled, type RunningCommand, Terminal } from '../../support/pages/terminal.ts';

const TEST_MS = 240_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

let terminal: Terminal;
let app: OwnApp;
let sandbox: RunningCommand;
beforeAll(async () => {
  terminal = new Terminal();
  app = await startOwnApp();
  sandbox = await terminal.start(`${ANY_PORTS} npm start`, 'Ctrl-C stops it');
}, TEST_MS);
afterAll(async () => {
  await terminal?.close();
  await app?.close();
}, TEST_MS);

const type = async (command: string, values?: Record<string, string>) =>
  (await terminal.type(command, values)).stdout;
const json = async (command: string) => JSON.parse(await type(`${command} --output json`));
/** The example's app listens where another program of this machine may. */
const ownPort = () => ({ '3000': `${app.port}` });
const inFolder = (name: string) => readFile(join(terminal.folder, name), 'utf8');

test('Record and replay', { timeout: TEST_MS }, async () => {
  const [record = '', again = '', failed = '', ...more] = commandsOf(
    'docs/simulator.md',
    'Record and replay',
  );
  expect(more).toEqual([]);
  const { uuid } = await json('hookrail sim endpoints create --url https://localhost:9/ --events KYC');
  await terminal.type('hookrail sim trigger KYC/FULL_USER --wait 5s || true');
  await type(record);
  await type(`hookrail sim endpoints delete ${uuid}`);
  expect((await inFolder('journey.ndjson')).split('\n').length).toBeGreaterThan(4);
  expect(await type(again)).toContain('sent');
  expect(await type(failed)).toContain('sent');
});

/** Types a command that runs on, and sends events until it says this. */
async function startAmongEvents(command: string, says: string): Promise<RunningCommand> {
  const starting = terminal.start(command, says);
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  starting.then(over, over);
  while (!isOver) await type('hookrail sim trigger KYC/FULL_USER');
  return starting;
}

test('See what happened', { timeout: TEST_MS }, async () => {
  const [
    tail = '',
    get = '',
    full = '',
    resend = '',
    metrics = '',
    missed = '',
    replay = '',
    events = '',
    story = '',
    lookup = '',
    ...more
  ] = commandsOf('docs/simulator.md', 'See what happened');
  expect(more).toEqual([]);
  const [{ delivery_uuid: id }] = await json('hookrail sim deliveries list --status delivered');
  const delivery = { '4701aacf': id.slice(0, 8) };
  expect(await type(get, delivery)).toContain('delivered, 1 of 7 attempts');
  expect(await type(full, delivery)).toContain('webhook-signature');
  expect(await type(resend, delivery)).toMatch(/✓ \S+ +200/);
  const register = 'hookrail sim receiver --register --fail-first 1 --output ndjson';
  const failing = await terminal.start(register, 'signing_secret');
  const { endpoint_uuid: checkout } = JSON.parse(failing.text.split('\n')[0] ?? '');
  const tailing = await startAmongEvents(tail, 'KYC/FULL_USER');
  expect(await tailing.interrupt()).toBe(0);
  expect(await failing.interrupt()).toBe(0);
  await type('hookrail sim trigger KYC/FULL_USER');
  const repaired = await terminal.start('hookrail sim receiver --register', 'secret');
  await type(`hookrail sim endpoints update ${checkout} --description checkout --events KYC`);
  await type('hookrail sim trigger fiatToCrypto/PENDING');
  expect(await type(metrics)).toContain('http_5xx');
  expect(await type(missed)).toMatch(/^checkout +\d+ +[1-9]/m);
  expect(await type(replay)).toMatch(/✓ KYC\/FULL_USER +checkout +200/);
  expect(await type(events)).toContain('fiatToCrypto/PENDING');
  const [{ transaction_uuid: transaction }] = await json('hookrail sim events list --type fiatToCrypto');
  const subject = { '9f3d2c1b-6a54-4e0f-8b7d-1c2a3b4d5e6f': transaction };
  expect(await type(story, subject)).toContain('Not sent: ');
  expect(await type(lookup, subject)).toContain('transaction');
  expect(await repaired.interrupt()).toBe(0);
});

test('Publish as a producer', { timeout: TEST_MS }, async () => {
  const [check = '', status = '', ...more] = commandsOf('docs/simulator.md', 'Publish as a producer');
  expect(more).toEqual([]);
  expect(await type(check)).toContain('would be accepted');
  await type('hookrail sim trigger KYC/FULL_USER');
  const [{ event_uuid: id }] = await json('hookrail sim events list');
  const told = await type(status, { '5c1f1f0e-2f35-4d0f-9d55-0d0a3e0c6b77': id });
  expect(told).toMatch(new RegExp(`^routed +${id}`));
});

test('Play a flow', { timeout: TEST_MS }, async () => {
  const [fast = '', expecting = '', file = '', ...more] = commandsOf('docs/simulator.md', 'Play a flow');
  expect(more).toEqual([]);
  const expected = type(expecting);
  await type('hookrail sim scenarios new my-flow');
  expect(await type(file)).toContain('"ON_HOLD_KYC"');
  expect(await type(fast)).toMatch(/✓ fiatToCrypto\/SUCCESS .*delivered/);
  expect(await expected).toMatch(/✓ fiatToCrypto\/SUCCESS .*delivered/);
});

test('Go step by step', { timeout: TEST_MS }, async () => {
  const [run = '', next = '', hold = '', jump = '', ...more] = commandsOf(
    'docs/simulator.md',
    'Go step by step',
  );
  expect(more).toEqual([]);
  expect(await type(run)).toContain('nothing is sent yet');
  expect(await type(next)).toContain('fiatToCrypto/PENDING');
  expect(await type(hold)).toContain('fiatToCrypto/ON_HOLD');
  await expect(type(jump)).rejects.toThrow(/exit 2 .*KYC cannot go .* possible now: fiatToCrypto/s);
});

test('Check a run in CI', { timeout: TEST_MS }, async () => {
  const [run = '', assert = '', ...more] = commandsOf('docs/simulator.md', 'Check a run in CI');
  expect(more).toEqual([]);
  await type(run);
  await type(assert);
  expect(await inFolder('report.xml')).toMatch(/<testsuites?[^>]* failures="0"/);
});

test('Load with a rate and with a mix', { timeout: TEST_MS }, async () => {
  const [load = '', mix = '', ...more] = commandsOf('docs/simulator.md', 'Load');
  expect(more).toEqual([]);
  writeFileSync(join(terminal.folder, 'mix.yaml'), 'onramp.happy: 6\nkyc.happy: 4\n');
  expect(await type(load, { '500': '10', '30s': '1s' })).toContain('p99');
  expect(JSON.parse(await type(`${mix} --duration 1s --rate 10`))).toBeInstanceOf(Object);
});

test('Your own app', { timeout: TEST_MS }, async () => {
  const [listen = '', some = '', secret = '', items = '', ...more] = commandsOf(
    'docs/simulator.md',
    'Your own app',
  );
  expect(more).toEqual([]);
  const listening = await terminal.start(listen, 'ready', ownPort());
  expect(await listening.interrupt()).toBe(0);
  const before = app.requests.length;
  const choosing = await terminal.start(some, 'ready', ownPort());
  await app.received(before + 1);
  expect(await choosing.interrupt()).toBe(0);
  const known = await type(secret, ownPort());
  expect(await inFolder('.env')).toBe(`WEBHOOK_SECRET=${known}`);
  const running = await terminal.start(items, '"ready"', ownPort());
  expect(await running.interrupt()).toBe(0);
});

test('A receiver that fails', { timeout: TEST_MS }, async () => {
  const [first = '', hang = '', print = '', save = '', cert = '', ...more] = commandsOf(
    'docs/simulator.md',
    'A receiver that fails',
  );
  expect(more).toEqual([]);
  for (const command of [first, hang, print]) {
    const receiver = await terminal.start(command, 'listening on https://');
    expect(await receiver.interrupt()).toBe(0);
  }
  await type(cert);
  expect(await inFolder('receiver.crt')).toContain('BEGIN CERTIFICATE');
  const saving = filled(save, { 'whsec_…': '"$(cat secret)"', 'captured/…': 'captured/*' });
  const receiver = await terminal.start(saving, 'listening on https://');
  const [url = ''] = /https:\S+/.exec(receiver.text) ?? [];
  const { uuid, signing_secret: secret } = await json(`hookrail sim endpoints create --url ${url}`);
  writeFileSync(join(terminal.folder, 'secret'), secret);
  await type('hookrail sim trigger KYC/FULL_USER');
  await receiver.says('KYC/FULL_USER');
  expect(await receiver.interrupt(), receiver.text).toBe(0);
  expect(receiver.text).toMatch(/✓ signature: .*\n✓ timestamp: /);
  await type(`hookrail sim endpoints delete ${uuid}`);
});

test('Without a server', { timeout: TEST_MS }, async () => {
  const [sample = '', sign = '', ...more] = commandsOf('docs/simulator.md', 'Without a server');
  expect(more).toEqual([]);
  await type(sample);
  expect(await inFolder('receiver.py')).toContain('hmac');
  writeFileSync(join(terminal.folder, 'body.json'), '{"type":"KYC"}');
  expect(await type(sign, { 'whsec_…': SECRET })).toContain('webhook-signature: v1,');
});

test('Find out why nothing arrives', { timeout: TEST_MS }, async () => {
  const [doctor = '', sending = '', catalog = '', schema = '', ...more] = commandsOf(
    'docs/simulator.md',
    'Find out why nothing arrives',
  );
  expect(more).toEqual([]);
  expect(await type(doctor)).toContain('ok');
  expect(await type(sending)).toContain('ok');
  expect(await type(catalog)).toContain('cryptoToFiat');
  await type(schema);
  expect(JSON.parse(await inFolder('kyc.schema.json'))).toHaveProperty('$schema');
});

test('Move the clock on', { timeout: TEST_MS }, async () => {
  const [next = '', hours = '', all = '', ...more] = commandsOf('docs/simulator.md', 'Move the clock on');
  expect(more).toEqual([]);
  const broken = await terminal.start('hookrail sim receiver --register --behaviour 500', 'secret');
  for (let i = 0; i < 2; i += 1) await type('hookrail sim trigger KYC/FULL_USER');
  // A delivery of an earlier case may be due first.
  await eventually('the next attempt is shown', async () => /attempt \d +500/.test(await type(next)));
  expect(await type(hours)).toMatch(/attempt [56] +500.*KYC\/FULL_USER/s);
  expect(await type(all)).toMatch(/attempt 7 +500/);
  expect(await type('hookrail sim endpoints list')).toContain('auto_disabled');
  expect(await broken.interrupt()).toBe(0);
  expect(await sandbox.interrupt()).toBeNull();
});

test('Check everything, on a sandbox with shorter times', { timeout: TEST_MS }, async () => {
  const [all = '', some = '', handler = '', ...more] = commandsOf('docs/simulator.md', 'Check everything');
  const [start = '', ...others] = commandsOf('docs/simulator.md', 'Check everything', 2);
  expect([...more, ...others]).toEqual([]);
  const quick = new Terminal();
  try {
    const running = await quick.start(`${ANY_PORTS} ${start}`, 'Ctrl-C stops it');
    // All of them are checked by test/simulator/scenario/check.test.ts.
    const checked = await quick.type(`${all.replace(/ +#.*/, '')} --only 'receiver.*'`);
    expect(checked.stdout).toMatch(/: \d+ passed$/m);
    await quick.type(some);
    const port = `${await freePort()}`;
    const receiver = `WEBHOOK_SECRET=${SECRET} PORT=${port} node docs/receivers/receiver.mjs`;
    const app = await quick.start(receiver, 'listen');
    const typed = `${handler.replace(/ +#.*/, '')} --only 'kyc.*'`;
    expect((await quick.type(typed, { '3000': port, 'whsec_…': SECRET })).stdout).toMatch(/: \d+ passed$/m);
    await app.interrupt();
    await running.interrupt();
  } finally {
    await quick.close();
  }
});
