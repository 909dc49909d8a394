/**
 * Makes docs/console.webp, the picture of the console in README.md: a sandbox is started, three endpoints are told
 * of a transaction, one of them fails at first, and a browser opens the transaction's story. `npm run picture`.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { findBrowser, openBrowser } from './browser.ts';
import { freePort } from './free-ports.ts';

const PICTURE = 'docs/console.webp';
const BYTES_MAX = 200 * 1024;
/** The picture's size in pixels of CSS; it has twice as many. */
const SIZE = { width: 1180, height: 836 };
const QUALITY = 82;
const HOOKRAIL = 'bin/hookrail.mjs';

const dataDir = mkdtempSync(join(tmpdir(), 'hookrail-picture-'));
const [apiPort, operationsPort] = [await freePort(), await freePort()];
const base = `http://127.0.0.1:${apiPort}`;
const environment = {
  ...process.env,
  HOOKRAIL_API_PORT: `${apiPort}`,
  HOOKRAIL_OPS_PORT: `${operationsPort}`,
};
const running: ChildProcess[] = [];

/** Starts a command that goes on, and resolves with the first line that has the text. */
async function start(args: readonly string[], text: string): Promise<string> {
  const command = [HOOKRAIL, ...args, '--data-dir', dataDir];
  const child = spawn(process.execPath, command, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  for await (const line of createInterface({ input: child.stdout })) if (line.includes(text)) return line;
  throw new Error(`hookrail ${args.join(' ')} ended`);
}

/** Runs a command of the simulator, and returns its JSON. */
async function sim(...args: readonly string[]): Promise<unknown> {
  const command = [HOOKRAIL, 'sim', ...args, '--data-dir', dataDir, '--base-url', base, '--output', 'json'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env: environment });
  return stdout === '' ? null : JSON.parse(stdout);
}

/** Starts a receiver with an endpoint of this name. */
async function receive(description: string, options: readonly string[], change: readonly string[] = []) {
  const started = ['sim', 'receiver', '--register', '--ndjson', '--base-url', base, ...options];
  const { endpoint_uuid: endpoint } = JSON.parse(await start(started, 'endpoint_uuid'));
  await sim('endpoints', 'update', endpoint, '--description', description, ...change);
}

/** Opens the story of the transaction that still has something to come. */
async function openStory(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Open' }).click();
  const waiting = page.locator('.all-rows .line', { hasText: 'attempt 3/7' }).first();
  await waiting.locator('.subject a').click();
  await page.locator('.machine').waitFor();
  await page.locator('.fates').first().waitFor();
}

async function take(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  return Buffer.from(data, 'base64');
}

const executable = findBrowser();
if (executable === undefined) process.exit(1);
const browser = await openBrowser(executable);
try {
  const link = await start(['start', '--no-demo'], '/console/#link=');
  await receive('Checkout', ['--fail-first', '2']);
  await receive('Ledger', []);
  await receive('KYC service', [], ['--events', 'KYC']);
  await sim('run', 'onramp.happy', '--seed', '42', '--speed', 'instant').catch(() => undefined);
  const page = await browser.newPage({ viewport: SIZE, deviceScaleFactor: 2, colorScheme: 'light' });
  await openStory(page, link);
  const picture = await take(page);
  if (picture.length > BYTES_MAX) throw new Error(`the picture has ${picture.length} bytes`);
  writeFileSync(PICTURE, picture);
  console.log(`${PICTURE}: ${picture.length} bytes`);
} finally {
  await browser.close();
  for (const child of running.reverse()) {
    child.kill();
    await once(child, 'exit');
  }
  rmSync(dataDir, { recursive: true, force: true });
}
