/** The commands that pages print cannot run a package that a stranger publishes under our name. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'hookrail-stranger-'));
/** The package of a stranger. */
const PACKAGE = { name: 'hookrail', version: '9.9.9', bin: { hookrail: 'x.js' } };
/** A registry where somebody has published `hookrail`. */
let registry: Server;
let address: string;
const fetched: string[] = [];

beforeAll(async () => {
  mkdirSync(join(folder, 'package'));
  writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify(PACKAGE));
  writeFileSync(
    join(folder, 'package', 'x.js'),
    "#!/usr/bin/env node\nconsole.log('a stranger runs this');\n",
  );
  const tarball = execFileSync('tar', ['-cz', '-C', folder, 'package']);
  registry = createServer(({ url = '' }, response) => {
    if (url.endsWith('.tgz')) {
      fetched.push(url);
      response.end(tarball);
      return;
    }
    const dist = { tarball: `${address}/hookrail/-/hookrail-9.9.9.tgz` };
    const published = { 'dist-tags': { latest: '9.9.9' }, versions: { '9.9.9': { ...PACKAGE, dist } } };
    // Anything else is about advisories, of which there are none.
    const answer = url === '/hookrail' ? { name: 'hookrail', ...published } : {};
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
});

afterAll(() => {
  registry.close();
  registry.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

/** Types a line in a folder that is not the checkout, for a user whose npm asks that registry. */
function typed(
  program: string,
  args: readonly string[],
  environment = {},
): Promise<{ code: number; text: string }> {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    npm_config_registry: address,
    // What was fetched once is run from npm's cache, also with --no.
    npm_config_cache: mkdtempSync(join(folder, 'cache-')),
    npm_config_update_notifier: 'false',
    npm_config_fetch_retries: '0',
    ...environment,
  };
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr }),
    );
  });
}

test('the registry has a package, which a call without --no fetches and runs', {
  timeout: 120_000,
}, async () => {
  const { text } = await typed('npx', ['--yes', 'hookrail', 'sim', 'whoami']);
  expect(text).toContain('a stranger runs this');
  expect(fetched).toEqual(['/hookrail/-/hookrail-9.9.9.tgz']);
});

test.each([
  ['as the pages print it', {}],
  ['for a user whose npm says yes to everything', { npm_config_yes: 'true' }],
  ['in continuous integration, where npm asks nobody', { CI: 'true' }],
])('nothing is fetched outside the checkout with --no, %s', { timeout: 120_000 }, async (_, environment) => {
  fetched.length = 0;
  const { code, text } = await typed('npx', ['--no', 'hookrail', 'sim', 'whoami'], environment);
  expect(code).not.toBe(0);
  expect(text).toMatch(/canceled due to missing packages/);
  expect(fetched).toEqual([]);
});

test('the package is private, so that nobody publishes it by mistake', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8'))).toMatchObject({ name: 'hookrail', private: true });
});
