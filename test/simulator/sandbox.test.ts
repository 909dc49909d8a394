/**
 * `npm start`, as a newcomer meets it: it makes what it needs, plays the demo to its own receiver over verified TLS, ends
 * with 0 on Ctrl-C, and goes on with its data when it is started again.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { BUILT } from '../support/built/modules.ts';
import { eventually } from '../support/eventually.ts';
import { simHere } from './support/command-line.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'hookrail-sandbox-'));
const SUB_TYPES = ['PENDING', 'IN_PROGRESS', 'CRYPTO_TRANSFER_ISSUED', 'SUCCESS'];

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

interface Visit {
  readonly args?: readonly string[];
  /** Types commands in a second terminal before the sandbox ends. */
  readonly meanwhile?: (text: string) => Promise<void>;
  /** Default: Ctrl-C, after which it must end with 0. */
  readonly end?: 'SIGINT' | 'SIGKILL';
}

/** Types a command in a second terminal and returns its data. */
async function typed(...args: readonly string[]) {
  const { code, stdout, stderr } = await simHere([...args, '--output', 'json'], {
    HOOKRAIL_DATA_DIR: dataDir,
  });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** Returns the descriptions of the merchant's endpoints. */
const endpoints = async () =>
  (await typed('endpoints', 'list')).map(({ description }: { description: string }) => description);

const DEMO = 'Built-in receiver of the sandbox';

/** Runs the sandbox until `isDone` is true of what it wrote; returns what it wrote. */
async function visit(
  isDone: (text: string) => boolean,
  { args = [], meanwhile, end = 'SIGINT' }: Visit = {},
): Promise<string> {
  const child = spawn(process.execPath, [BUILT.simulator, 'sandbox', ...args], {
    env: {
      PATH: process.env.PATH,
      HOOKRAIL_DATA_DIR: dataDir,
      HOOKRAIL_API_PORT: '0',
      HOOKRAIL_OPS_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  try {
    await eventually('the demo is delivered', () => isDone(text), 60_000).catch((error: unknown) => {
      throw new Error(`${error}:\n${text}`);
    });
    await meanwhile?.(text);
    child.kill(end);
    const code = await exited;
    if (end === 'SIGINT') expect(code, text).toBe(0);
  } finally {
    child.kill('SIGKILL');
  }
  return text;
}

const isDelivered = (text: string) =>
  SUB_TYPES.every((subType) => new RegExp(`✓ fiatToCrypto/${subType} +delivered +200`).test(text));
const keys = (text: string) => text.match(/^ {2}(?:API key|producer key|merchant) .*$/gm);

/** A link to the reference is printed, and the samples have the keys that are printed for who opens it. */
async function lookAtReference(text: string): Promise<void> {
  const [, address] = /reference +(\S+)/.exec(text) ?? [];
  const [link = ''] = /^http:\/\/\S+\/docs\/\?pass=\S+$/m.exec(text) ?? [];
  expect(link.length).toBeLessThan(80);
  const printedAnew = await typed('docs');
  for (const each of [link, printedAnew.docs_link]) {
    const entered = await fetch(each, { redirect: 'manual' });
    expect([each, entered.status]).toEqual([each, 303]);
    await lookAtPages(text, `${address}`, (entered.headers.getSetCookie()[0] ?? '').split(';', 1)[0] ?? '');
  }
  expect((await fetch(link, { redirect: 'manual' })).status).toBe(403);
  // Another user of this machine.
  const other = await (await fetch(`${address}/operations/producers`)).text();
  for (const key of text.match(/\b[sp]k_\w{20,}/g) ?? ['nothing']) expect(other).not.toContain(key);
  // The service is up, and no request or line of it has the pass of a link.
  expect(text.split(link).length).toBe(2);
}

async function lookAtPages(text: string, address: string, cookie: string): Promise<void> {
  const page = async (path: string) => (await fetch(`${address}/${path}`, { headers: { cookie } })).text();
  const printed = (name: string) => new RegExp(`${name} +(\\S+)`).exec(text)?.[1] ?? 'is not printed';
  expect(await page('operations/webhook-endpoints')).toContain(
    `Authorization: API-Key ${printed('API key')}`,
  );
  const producers = await page('operations/producers');
  expect(producers).toContain(`Authorization: API-Key ${printed('producer key')}`);
  expect(producers).toContain(printed('merchant'));
}

test('the sandbox plays the demo, stops cleanly, and continues with its data', {
  timeout: 150_000,
}, async () => {
  const first = await visit((text) => isDelivered(text) && text.includes('?pass='), {
    meanwhile: lookAtReference,
  });
  expect(keys(first)).toHaveLength(3);
  expect(readFileSync(join(dataDir, 'sandbox.env'), 'utf8')).toContain('HOOKRAIL_API_KEY');
  // Both databases were closed, not left to be recovered.
  for (const name of ['broker.db-wal', 'store.db-wal'])
    expect(existsSync(join(dataDir, name)), name).toBe(false);

  const second = await visit(isDelivered);
  expect(keys(second)).toEqual(keys(first));
});

test('the demo has an endpoint only while its receiver runs, and plays to nobody else', {
  timeout: 240_000,
}, async () => {
  await visit(isDelivered, {
    meanwhile: async () => {
      expect(await endpoints()).toEqual([DEMO]);
      // Registered by the developer; nobody listens there.
      await typed('endpoints', 'create', '--url', 'https://localhost:9/', '--description', 'mine');
    },
  });
  const isReady = (text: string) => text.includes('Ctrl-C stops it');
  const again = await visit(isReady, {
    end: 'SIGKILL',
    meanwhile: async () => {
      expect(await endpoints()).toEqual([DEMO, 'mine']);
      expect(await typed('deliveries', 'list', '--endpoint', 'mine')).toEqual([]);
    },
  });
  expect(again).toContain('the demo is not played, because you have endpoints of your own');
  expect(again).not.toContain('playing onramp.happy');
  // Killed, it could not remove its endpoint: the next start does, also without a demo.
  await visit(isReady, {
    args: ['--no-demo'],
    meanwhile: async () => expect(await endpoints()).toEqual(['mine']),
  });
});

test('a store that is new gets the merchant and the keys of sandbox.env; what is no key there is replaced', {
  timeout: 240_000,
}, async () => {
  const isReady = (text: string) => text.includes('Ctrl-C stops it');
  const start = () => visit(isReady, { args: ['--no-demo'] });
  const first = await start();
  for (const name of readdirSync(dataDir)) if (/\.db(?:-|$)/.test(name)) rmSync(join(dataDir, name));
  const anew = await start();
  expect(anew).toContain('this store is new');
  expect(keys(anew)).toEqual(keys(first));
  const before = readFileSync(join(dataDir, 'sandbox.env'), 'utf8');
  const [key = ''] = /sk_sandbox_\w+/.exec(before) ?? [];
  // A key that was changed by hand is none: its checksum is wrong.
  const wrong = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  writeFileSync(join(dataDir, 'sandbox.env'), before.replace(key, wrong));
  const [apiKey, ...others] = keys(await start()) ?? [];
  expect(apiKey).not.toContain(wrong);
  expect(apiKey).not.toContain(key);
  expect(others).toEqual(keys(first)?.slice(1));
});
