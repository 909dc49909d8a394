/** The console as the api role serves it: one page for every screen, hashed files for ever, nothing inline, and small. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

/** The most that a browser loads before it shows the first screen, compressed. */
const FIRST_SCREEN_BYTES_MAX = 150 * 1024;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(api.api.url + path, { headers, redirect: 'manual' });

async function assetsOf(page: string): Promise<readonly string[]> {
  return [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
}

test('each screen of the console has an address, which is answered with the one page', async () => {
  const [redirect, first, screen] = await Promise.all([
    get('/console'),
    get('/console/'),
    get('/console/find/0c1d?x=1'),
  ]);
  expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/console/']);
  expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(await screen.text()).toBe(await first.text());
});

test('the page of the console has nothing inline, and may load from its own host only', async () => {
  const response = await get('/console/');
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy.split(';').sort()).toEqual([
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
  ]);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  const page = await response.text();
  expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
});

test('files of the console are kept by browsers for ever, and are compressed for those that take it', async () => {
  const [icon = '', style = '', script = ''] = await assetsOf(await (await get('/console/')).text());
  expect([icon, style, script].map((path) => path.slice(path.lastIndexOf('.')))).toEqual([
    '.svg',
    '.css',
    '.js',
  ]);
  for (const path of [style, script]) {
    const [plain, small] = await Promise.all([
      get(path, { 'accept-encoding': 'identity' }),
      get(path, { 'accept-encoding': 'gzip' }),
    ]);
    expect(small.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(small.headers.get('vary')).toContain('Accept-Encoding');
    expect([plain.headers.get('content-encoding'), small.headers.get('content-encoding')]).toEqual([
      null,
      'gzip',
    ]);
    expect(await small.text()).toBe(await plain.text());
  }
});

test('a file that the console does not have is not found', async () => {
  const response = await get('/console/assets/main-00000000.js');
  expect([response.status, response.headers.get('content-type')]).toEqual([
    404,
    expect.stringContaining('application/problem+json'),
  ]);
});

test('the console may be embedded by the pages that the operator names, and by no other', async () => {
  const framed = await startTestApi({ consoleFrameAncestors: ['https://app.example.com'] });
  const { headers } = await fetch(`${framed.api.url}/console/`);
  expect(headers.get('content-security-policy')).toContain('frame-ancestors https://app.example.com');
  expect(headers.get('x-frame-options')).toBeNull();
  await framed.close();
  expect((await get('/console/')).headers.get('x-frame-options')).not.toBeNull();
});

test('the first screen of the console loads at most 150 KB of script, compressed', async () => {
  const [, , script = ''] = await assetsOf(await (await get('/console/')).text());
  const loaded = new Map<string, string>();
  const load = async (path: string) => {
    if (loaded.has(path)) return;
    const text = await (await get(path)).text();
    loaded.set(path, text);
    // A static import is loaded with it; a dynamic one is not.
    for (const [, name] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
      await load(`/console/assets/${name}`);
  };
  await load(script);
  const bytes = [...loaded.values()].reduce((sum, text) => sum + gzipSync(text).length, 0);
  expect(loaded.size).toBeGreaterThan(1);
  expect(bytes).toBeLessThan(FIRST_SCREEN_BYTES_MAX);
});
