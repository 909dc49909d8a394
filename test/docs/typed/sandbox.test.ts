/**
 * Guarantee: the commands of README.md and docs/quickstart.md that start and try the sandbox work as they are typed, one
 * after the other, in a checkout without data.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { type OwnApp, startOwnApp } from '../../simulator/support/own-app.ts';
import { commandsOf } from '../../support/pages/command-blocks.ts';
import { ANY_PORTS, type RunningCommand, Terminal } from '../../support/pages/terminal.ts';

const TEST_MS = 240_000;
/** After which an event is delivered to a new endpoint, as the quickstart says. */
const NEW_ENDPOINT_MS = 1000;

let terminal: Terminal;
let app: OwnApp;
let sandbox: RunningCommand;
beforeAll(async () => {
  terminal = new Terminal();
  app = await startOwnApp();
  const [command = '', ...more] = commandsOf('README.md', 'Start');
  expect(more).toEqual([]);
  sandbox = await terminal.start(`${ANY_PORTS} ${command}`, 'Ctrl-C stops it');
}, TEST_MS);
afterAll(async () => {
  await terminal?.close();
  await app?.close();
}, TEST_MS);

/** The example's app listens where another program of this machine may. */
const ownPort = () => ({ '3000': `${app.port}` });

test('npm start plays its demo', () => {
  expect(sandbox.text).toMatch(/✓ fiatToCrypto\/SUCCESS +delivered +200/);
});

test('README.md: the first commands', { timeout: TEST_MS }, async () => {
  const [run = '', trigger = '', list = '', listen = '', receiver = '', help = '', ...more] = commandsOf(
    'README.md',
    'Start',
    2,
  );
  expect(more).toEqual([]);
  const played = terminal.type(run);
  const [triggered, helped] = await Promise.all([terminal.type(trigger), terminal.typeWithNpm(help)]);
  expect(triggered.stdout).toContain('KYC/FULL_USER');
  expect(helped.stdout).toContain('npx --no hookrail sim run');
  expect((await played).stdout).toContain('fiatToCrypto/SUCCESS');
  expect((await terminal.type(list)).stdout).toMatch(/KYC\/FULL_USER +\S*delivered/);
  const listening = await terminal.start(listen, 'ready', ownPort());
  const registered = await terminal.start(receiver, 'listening on https://');
  expect(await Promise.all([listening.interrupt(), registered.interrupt()])).toEqual([0, 0]);
});

test('README.md: a webhook arrives at an app of one’s own', { timeout: TEST_MS }, async () => {
  const [listen = '', ...more] = commandsOf('README.md', 'Receive a webhook');
  expect(more).toEqual([]);
  const before = app.requests.length;
  const listening = await terminal.start(listen, 'whsec_', ownPort());
  const [request] = (await app.received(before + 1)).slice(before);
  expect(request).toMatchObject({ method: 'POST', url: '/hook' });
  expect(await listening.interrupt()).toBe(0);
});

test('docs/quickstart.md, from the keys to the delivery log', { timeout: TEST_MS }, async () => {
  const [load = ''] = commandsOf('docs/quickstart.md', 'On your own machine');
  const [receive = ''] = commandsOf('docs/quickstart.md', 'Start a receiver');
  const [create = ''] = commandsOf('docs/quickstart.md', 'Create an endpoint');
  const [publish = ''] = commandsOf('docs/quickstart.md', 'Publish an event');
  const [send = ''] = commandsOf('docs/quickstart.md', 'Send yourself a webhook');
  const [list = '', deliveries = ''] = commandsOf('docs/quickstart.md', 'See what was delivered');
  const port = `${await freePort()}`;
  /** Types it in the second terminal, where the keys are loaded. */
  const second = async (command: string, values = {}) =>
    JSON.parse((await terminal.type(`${load}\n${command}`, values)).stdout);
  const receiver = await terminal.start(receive, 'listening on https://', { '9443': port });
  const made = await second(create, { 'https://hooks.example.com/hookrail': `https://localhost:${port}/` });
  expect(made).toMatchObject({
    description: 'My receiver',
    signing_secret: expect.stringMatching(/^whsec_/),
  });
  expect(await second(send, { '<endpoint id>': made.uuid })).toMatchObject({ status: 'delivered' });
  await setTimeout(NEW_ENDPOINT_MS);
  expect(await second(publish)).toMatchObject({ accepted: 1 });
  await receiver.says('entityStatusUpdate');
  expect((await second(list)).data).toContainEqual(expect.objectContaining({ uuid: made.uuid }));
  const { data } = await second(deliveries, { '<endpoint id>': made.uuid });
  expect(data.map(({ type }: { type: string }) => type)).toEqual(['entityStatusUpdate', 'KYC']);
  expect(await receiver.interrupt()).toBe(0);
});

test('Ctrl-C stops it', { timeout: TEST_MS }, async () => {
  await sandbox.interrupt();
  // Both databases were closed, not left to be recovered.
  const left = readdirSync(join(terminal.folder, 'data')).filter((name) => name.endsWith('-wal'));
  expect(left).toEqual([]);
});
