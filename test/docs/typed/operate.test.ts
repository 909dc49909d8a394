/**
 * Guarantee: the commands of docs/operate/tasks.md, and the first steps of docs/deploy.md before them, work as they are
 * typed, one after the other, in production on an empty folder.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { eventToJson } from '../../../services/codec/events.ts';
import { eventually } from '../../support/eventually.ts';
import { commandsOf } from '../../support/pages/command-blocks.ts';
import { filled, type RunningCommand, Terminal } from '../../support/pages/terminal.ts';
import { eventOf, jsonEventOf } from '../../support/records/events.ts';

const TEST_MS = 240_000;
const SERVES = 'hookrail is running';

let terminal: Terminal;
let service: RunningCommand;
let api: string;
/** What the first steps have printed. */
let merchantId: string;
let producerKey: string;

const serve = (settings = '') => terminal.start(`${settings} npx --no hookrail serve`, SERVES);

/** Types a command of the page, without its comment, for output that can be read. */
async function json(command: string, values: Readonly<Record<string, string>> = {}) {
  const [, typed = ''] = /^(.*?)(?: +#.*)?$/s.exec(filled(command, values)) ?? [];
  const { stdout } = await terminal.type(`${typed} --output json`);
  return JSON.parse(stdout);
}

async function publish(...events: readonly unknown[]) {
  const answer = await fetch(`${api}/producer/events`, {
    method: 'POST',
    headers: { authorization: `API-Key ${producerKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(answer.status).toBe(202);
  return answer.json();
}

beforeAll(async () => {
  const [apiPort, opsPort] = [await freePort(), await freePort()];
  api = `http://127.0.0.1:${apiPort}`;
  terminal = new Terminal({
    HOOKRAIL_ENVIRONMENT: 'production',
    HOOKRAIL_OPERATOR: 'ann',
    HOOKRAIL_API_PORT: `${apiPort}`,
    HOOKRAIL_OPS_PORT: `${opsPort}`,
  });
  terminal.export('HOOKRAIL_DATA_DIR', join(terminal.folder, 'data'));
  terminal.export('HOOKRAIL_KEYRING', join(terminal.folder, 'keyring.json'));
  const [keyring = '', merchant = '', key = '', producer = '', ...more] = commandsOf(
    'docs/deploy.md',
    'One process',
  );
  expect(more).toEqual([]);
  expect((await terminal.type(keyring)).stdout).toContain('created');
  merchantId = (await json(merchant)).merchantId;
  expect((await json(key, { '<merchantId>': merchantId })).key).toMatch(/^sk_live_/);
  producerKey = (await json(producer)).key;
  expect(producerKey).toMatch(/^pk_live_/);
  service = await serve();
}, TEST_MS);
afterAll(() => terminal?.close(), TEST_MS);

/** Types the commands for a merchant who misses a webhook. There is no endpoint: two of them say that they find nothing. */
async function missing(entityId: string): Promise<void> {
  const [story = '', events = '', deliveries = '', delivery = '', endpoint = '', get = '', ...more] =
    commandsOf('docs/operate/tasks.md', 'A merchant says a webhook is missing');
  expect(more).toEqual([]);
  expect((await terminal.type(story, { '<id>': entityId })).stdout).toContain('there was no endpoint');
  expect((await json(events, { '<uuid>': entityId })).items).toHaveLength(1);
  expect((await json(deliveries, { '<uuid>': crypto.randomUUID() })).items).toEqual([]);
  for (const command of [delivery, endpoint]) {
    const typed = command.replace(/<[^>]+>/, crypto.randomUUID()).split('#')[0];
    expect((await terminal.type(`(${typed}) 2>&1 || true`)).stdout).toContain('see ');
  }
  expect((await json(get, { '<id>': merchantId })).merchantId).toBe(merchantId);
}

test('the commands under "Commands"', { timeout: TEST_MS }, async () => {
  const [status = '', summary = '', streams = '', acknowledge = '', pause = '', ...others] = commandsOf(
    'docs/operate/tasks.md',
    'Commands',
  );
  const [
    create = '',
    revoke = '',
    producer = '',
    merchant = '',
    endpoints = '',
    deliveries = '',
    events = '',
    find = '',
    story = '',
    audit = '',
    erase = '',
    keyring = '',
    ...more
  ] = others;
  expect(more).toEqual([]);
  expect((await json(status)).processes).toEqual([expect.objectContaining({ ready: true })]);
  expect(await json(summary)).toEqual([]);
  for (const command of [streams, acknowledge]) {
    // The embedded engine deletes nothing unread, and both commands say so.
    const said = await terminal.type(
      `(${command.replace('<topic>', 'payments.events').split('#')[0]}) 2>&1 || true`,
    );
    expect(said.stdout).toContain('never deletes unread records');
  }
  await terminal.type(pause, { '<id>': merchantId });
  await terminal.type(`npx --no hookrail operator merchants resume ${merchantId}`);
  const { keyId } = await json(create, { '<id>': merchantId });
  await terminal.type(revoke, { '<keyId>': keyId });
  expect((await json(producer)).types).toEqual(['KYC', 'KYB']);
  const event = eventOf(merchantId, 'typed', { simulated: false });
  const { eventId, entityId } = event;
  await publish(eventToJson(event));
  await eventually('the event is recorded', async () => {
    const shown = await terminal.type(`${events.replace('<event id>', eventId).split('#')[0]} || true`);
    return shown.stdout.includes(eventId);
  });
  expect(await json(merchant, { '<id>': merchantId })).toMatchObject({ state: 'active', lastEvent: eventId });
  expect(await json(endpoints)).toEqual({ items: [], next: null });
  expect(await json(deliveries)).toEqual({ items: [], next: null });
  expect(await json(find, { '<id>': eventId })).toEqual([
    expect.objectContaining({ kind: 'event', merchantId }),
  ]);
  expect(await json(story, { '<id>': entityId })).toMatchObject([{ merchantId, entityId }]);
  await missing(entityId);
  expect((await terminal.type(audit)).stdout).toMatch(/ api_key\.revoke /);
  const erased = await terminal.type(`${erase.replace('<uuid>', entityId).split('#')[0]} --yes`);
  expect(erased.stdout).toContain('events');
  expect((await terminal.type(keyring)).stdout).toContain('k1');
});

test('the commands under "The platform’s signing keys"', { timeout: TEST_MS }, async () => {
  const [list = '', rotate = '', retire = '', ...more] = commandsOf(
    'docs/operate/tasks.md',
    "The platform's signing keys",
  );
  expect(more).toEqual([]);
  expect((await terminal.type(list)).stdout).toContain('signing');
  const { created } = await json(rotate);
  await terminal.type(retire, { '<kid>': created });
  expect((await terminal.type(list)).stdout).not.toContain(created);
});

test('the commands under "Quarantine"', { timeout: TEST_MS }, async () => {
  const [list = '', show = '', replay = '', ...more] = commandsOf('docs/operate/tasks.md', 'Quarantine');
  expect(more).toEqual([]);
  const [again = '', back = '', ...others] = commandsOf('docs/producers.md', 'Quarantine');
  expect(others).toEqual([]);
  await publish(jsonEventOf(crypto.randomUUID(), 'unknown', { simulated: false }));
  const listed = () => json(list);
  await eventually('it is in quarantine', async () => (await listed()).length === 1);
  const [{ position }] = await listed();
  expect((await terminal.type(show, { '<position>': position })).stdout).toContain('unknown_merchant');
  // Its merchant is still unknown, so it stays as it arrived.
  const before = await listed();
  expect((await terminal.type(replay)).stdout).toContain('it would be quarantined again');
  expect(await listed()).toEqual(before);
  expect((await terminal.type(again)).stdout).toContain('unknown_merchant');
  expect((await terminal.type(back)).stdout).toMatch(/^replayed +0$/m);
});

test('the commands under "Tasks that were put aside"', { timeout: TEST_MS }, async () => {
  const commands = commandsOf('docs/operate/tasks.md', 'Tasks that were put aside');
  expect(commands).toHaveLength(2);
  // None was put aside; what is done with one is in test/guarantees/stalls.
  for (const command of commands) await terminal.type(command);
});

test('the commands under "Producer keys"', { timeout: TEST_MS }, async () => {
  const [create = '', set = '', all = '', ...more] = commandsOf('docs/operate/tasks.md', 'Producer keys');
  expect(more).toEqual([]);
  const { keyId } = await json(create);
  expect(await json(set, { '<keyId>': keyId, '<id>': merchantId })).toMatchObject({
    types: ['KYC', 'KYB', 'AML'],
    merchants: [merchantId],
  });
  expect((await json(all, { '<keyId>': keyId })).types).toEqual(['KYC', 'KYB', 'AML']);
});

test('the commands under "Rotate the encryption key"', { timeout: TEST_MS }, async () => {
  const [add = '', rewrap = '', remove = '', ...more] = commandsOf(
    'docs/operate/tasks.md',
    'Rotate the encryption key',
  );
  expect(more).toEqual([]);
  await terminal.type(add);
  await terminal.type(rewrap);
  await terminal.type(remove);
  expect((await terminal.type('npx --no hookrail operator keyring list')).stdout).not.toContain('k1');
});

test('the commands under "Notices to the platform"', { timeout: TEST_MS }, async () => {
  const [create = '', key = '', ...more] = commandsOf('docs/operate/tasks.md', 'Notices to the platform');
  expect(more).toEqual([]);
  const platform = await json(create);
  expect((await json(key, { '<id>': platform.merchantId })).key).toMatch(/^sk_live_/);
});

test('the commands under "Replay after an incident"', { timeout: TEST_MS }, async () => {
  const [start = '', list = '', ...more] = commandsOf('docs/operate/tasks.md', 'Replay after an incident');
  expect(more).toEqual([]);
  await terminal.type(start);
  await terminal.type(list);
});

test('the commands under "Back up and restore"', { timeout: TEST_MS }, async () => {
  const [backup = '', restore = '', vacuum = '', ...more] = commandsOf(
    'docs/operate/tasks.md',
    'Back up and restore',
  );
  expect(more).toEqual([]);
  const place = { '/backups': join(terminal.folder, 'backups') };
  await terminal.type('mkdir backups');
  await terminal.type(backup, place);
  expect(await service.interrupt('SIGTERM')).toBe(0);
  await terminal.type(restore, place);
  await terminal.type(vacuum);
  const [proxies = '', ...others] = commandsOf('docs/deploy.md', 'Proxies');
  expect(others).toEqual([]);
  service = await serve(proxies);
  expect(await service.interrupt('SIGTERM')).toBe(0);
});
