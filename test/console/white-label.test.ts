/**
 * The console in the look of the platform: its name, logo, icon, colour, theme and help, all of this host, under the same
 * strict policy, and as legible as it was.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, openBrowser } from '../../scripts/browser.ts';
import { readConfig } from '../../services/config/config.ts';
import { consoleVisits } from '../support/api/console-visits.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { faultsOf, openPage } from './support/console-browser.ts';

const path = findBrowser();
/** It says when a browser hangs on a busy machine, not how fast it is. */
const FLOW_MAX_MS = 240_000;
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 24" width="96" height="24">' +
  '<script>parent.pwned = 1</script><rect width="96" height="24" rx="4" fill="#0b6e4f"/></svg>';

const folder = mkdtempSync(join(tmpdir(), 'hookrail-look-'));
const logoFile = join(folder, 'logo.svg');
writeFileSync(logoFile, LOGO);
const look = (set: Readonly<Record<string, string>>) => {
  const named = Object.entries(set).map(([name, value]) => [`HOOKRAIL_CONSOLE_${name}`, value]);
  return { consoleBrand: readConfig(Object.fromEntries(named)).api.consoleBrand };
};
const ACME = {
  NAME: 'Acme "Pay" & <b>Co</b>',
  LOGO_FILE: logoFile,
  ICON_FILE: logoFile,
  ACCENT: '#0b6e4f',
  HELP_URL: 'https://help.example.com/webhooks?a=1&b="2"',
};

const apis: TestApi[] = [];
const start = async (set: Readonly<Record<string, string>>): Promise<TestApi> => {
  const api = await startTestApi(look(set));
  apis.push(api);
  return api;
};
let browser: Browser | undefined;
beforeAll(async () => {
  if (path !== undefined) browser = await openBrowser(path);
});
afterAll(async () => {
  await browser?.close();
  for (const api of apis) await api.close();
  rmSync(folder, { recursive: true });
});

test('an image that cannot be used stops the start, in one line', async () => {
  const text = join(folder, 'logo.txt');
  writeFileSync(text, 'x');
  const large = join(folder, 'large.png');
  writeFileSync(large, Buffer.alloc(300_000));
  for (const [file, says] of [
    [join(folder, 'none.svg'), 'ENOENT'],
    [text, 'its name must end with .svg, .png or .webp'],
    [large, 'it is larger than 256 KiB'],
  ] as const)
    await expect(startTestApi(look({ LOGO_FILE: file }))).rejects.toThrow(
      expect.objectContaining({ message: expect.stringContaining(says) }),
    );
});

test('the look needs no exception from the policy, and its files have their hash in the name', async () => {
  const [plain, acme] = [await start({}), await start(ACME)];
  const [own, theirs] = await Promise.all([plain, acme].map(({ api }) => fetch(`${api.url}/console/`)));
  expect(theirs?.headers.get('content-security-policy')).toBe(own?.headers.get('content-security-policy'));
  const page = (await theirs?.text()) ?? '';
  expect(page).toContain('<title>Acme &quot;Pay&quot; &amp; &lt;b&gt;Co&lt;/b&gt;</title>');
  expect(page).not.toMatch(/%[a-z-]+%|<b>|style=/);
  const [logo = ''] = /\/console\/assets\/logo-[0-9A-F]{8}\.svg/.exec(page) ?? [];
  const { headers } = await fetch(acme.api.url + logo);
  expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([
    'image/svg+xml',
    'public, max-age=31536000, immutable',
  ]);
  // Opened by itself, its script does not run either.
  expect(headers.get('content-security-policy')).toContain("script-src 'self'");
});

describe.skipIf(path === undefined)('the look of the platform', { timeout: FLOW_MAX_MS }, () => {
  const looks = (['auto', 'light', 'dark'] as const).flatMap((theme) =>
    (['light', 'dark'] as const).map((system) => [theme, system] as const),
  );
  test.each(looks)('with the theme %s, on a system that is %s, is legible', async (theme, colorScheme) => {
    const api = await start({ ...ACME, THEME: theme });
    const { page, context, faults } = await openPage(browser as Browser, api.api.url, {
      colorScheme,
      viewport: { width: 1280, height: 800 },
    });
    const { url } = await consoleVisits(api).link();
    await page.goto(url);
    await page.getByRole('button', { name: 'Open' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(await page.getByRole('link', { name: 'Help' }).getAttribute('href')).toBe(ACME.HELP_URL);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Live' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const isDark = (theme === 'auto' ? colorScheme : theme) === 'dark';
    const body = page.locator('body');
    const styleOf = (name: string) =>
      page.evaluate(`getComputedStyle(document.body).getPropertyValue(${JSON.stringify(name)})`);
    expect(await styleOf('background-color')).toBe(isDark ? 'rgb(15, 17, 22)' : 'rgb(246, 247, 249)');
    expect(await styleOf('color-scheme')).toBe(theme === 'auto' ? 'light dark' : theme);
    if (!isDark) expect(await styleOf('--accent')).toBe(ACME.ACCENT);
    const logo = page.getByRole('img', { name: ACME.NAME });
    expect((await logo.boundingBox())?.height).toBe(24);
    expect(await page.title()).toBe(`Live · ${ACME.NAME}`);
    expect(await page.evaluate('typeof pwned')).toBe('undefined');
    expect(await body.getByText('hookrail', { exact: true }).count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});
