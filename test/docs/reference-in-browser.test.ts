/**
 * The reference in a real browser, served by the real API: on a desk and on a phone, light and dark, no page is wider
 * than the screen, asks another host for anything, says anything on the console, or has text that is hard to read.
 */
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, openBrowser } from '../../scripts/browser.ts';
import { docsLinkPath } from '../support/api/docs-visit.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

const path = findBrowser();
/** A browser beside other suites on a busy machine: these say when it hangs, not how fast it is. */
const START_MAX_MS = 120_000;
const PAGES_MAX_MS = 300_000;
const LOOK_AT_PAGE = readFileSync(new URL('../support/look-at-page.js', import.meta.url), 'utf8').trim();
/** The widest state that a page has: everything unfolded, in the language with the longest lines. */
const UNFOLD = `(() => {
  for (const details of document.querySelectorAll('details')) details.open = true;
  for (const tab of document.querySelectorAll('.tabs > input:last-of-type')) tab.checked = true;
})()`;

let api: TestApi;
let browser: Browser;
beforeAll(async () => {
  if (path === undefined) return;
  api = await startTestApi();
  browser = await openBrowser(path);
}, START_MAX_MS);
afterAll(async () => {
  await browser?.close();
  await api?.close();
});

interface Opened {
  readonly page: Page;
  /** The faults seen so far, which no page may have. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

async function open(options: BrowserContextOptions): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => faults.push(`${page.url()} says ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`${page.url()} fails: ${error.message}`));
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.url()} is ${response.status()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(api.api.url)) faults.push(`${page.url()} asks for ${request.url()}`);
  });
  return { page, faults, close: () => context.close() };
}

/** The addresses of all pages, in the order of their list. */
async function addresses(page: Page): Promise<string[]> {
  await page.goto(`${api.api.url}/docs`);
  return page.evaluate(
    "[...document.querySelectorAll('.sections > li > ul > li > a')].map(({ href }) => href)",
  );
}

/** Returns what is wrong with the page as it is shown: its width, its headings, and the contrast of its text. */
function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate(`(() => { ${LOOK_AT_PAGE} return lookAtPage(); })()`);
}

describe.skipIf(path === undefined)('the reference in a browser', { timeout: PAGES_MAX_MS }, () => {
  const screens = [1280, 390].flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => [width, colorScheme] as const),
  );
  test.each(screens)('fits a screen of %i pixels, %s, on every page', async (width, colorScheme) => {
    const { page, faults, close } = await open({ viewport: { width, height: 800 }, colorScheme });
    const all = await addresses(page);
    expect(all.length).toBeGreaterThan(20);
    for (const address of all) {
      await page.goto(address);
      expect([address, await faultsOf(page)]).toEqual([address, []]);
      await page.evaluate(UNFOLD);
      expect([address, await faultsOf(page)]).toEqual([address, []]);
    }
    expect(faults).toEqual([]);
    await close();
  });

  test('finds an operation by the search, with the keyboard alone', async () => {
    const { page, faults, close } = await open({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${api.api.url}/docs/`);
    await page.keyboard.press('/');
    await page.keyboard.type('rotate the signing secret');
    await page.getByRole('option').first().waitFor();
    expect(await page.getByRole('option').first().textContent()).toContain('Rotate the signing secret');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/operations/webhook-endpoints#rotateWebhookEndpointSecret');
    await page.locator('#search').fill('endpoint_quota_exceeded');
    await page.getByRole('option', { name: 'endpoint_quota_exceeded' }).first().click();
    await page.waitForURL('**/guides/errors#name-endpoint_quota_exceeded');
    expect(await page.locator('tr:target').textContent()).toContain('endpoint_quota_exceeded');
    await page.locator('#search').fill('nothing like this');
    await page.getByText('Nothing was found.').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('shows the fields of the version that was chosen, on the next page too', async () => {
    const { page, faults, close } = await open({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${api.api.url}/docs/events/fiatToCrypto`);
    const field = page.locator('.fields .name', { hasText: 'senderDetails' }).first();
    const refunded = page.getByRole('heading', { name: 'REFUNDED' });
    expect([await field.isVisible(), await refunded.isVisible()]).toEqual([true, true]);
    await page.getByLabel('API version').selectOption('2.2.8');
    expect([await field.isVisible(), await refunded.isVisible()]).toEqual([false, false]);
    expect(await page.getByText('In version 2.2.8', { exact: true }).isVisible()).toBe(true);
    await page.goto(`${api.api.url}/docs/events/KYB`);
    expect(await page.getByText('Version 2.2.8 does not have this type').isVisible()).toBe(true);
    expect(faults).toEqual([]);
    await close();
  });

  test('shows every sample in the language that was chosen', async () => {
    const { page, faults, close } = await open({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${api.api.url}/docs/operations/webhook-endpoints`);
    await page.locator('label', { hasText: 'Python' }).first().click();
    const shown = page.locator('.code:visible', { hasText: 'import' });
    expect(await shown.count()).toBe(await page.locator('label', { hasText: 'Python' }).count());
    await page.goto(`${api.api.url}/docs/operations/producers`);
    expect(await page.locator('.code:visible', { hasText: 'import json' }).count()).toBe(1);
    expect(faults).toEqual([]);
    await close();
  });

  test('shows the keys to the browser that opened the link, by a link on another page too', async () => {
    const access = { merchantKey: 'sk_sandbox_mine', producerKey: 'pk_sandbox_mine', merchantId: 'm' };
    api.api.docs.fillIn(access);
    const mine = await open({ viewport: { width: 390, height: 800 }, colorScheme: 'dark' });
    await mine.page.goto(`${api.api.url}/docs/operations/producers`);
    expect(await mine.page.getByText('The samples have placeholders').isVisible()).toBe(true);
    expect(await faultsOf(mine.page)).toEqual([]);
    await mine.page.goto(api.api.url + docsLinkPath(access));
    expect(mine.page.url()).toBe(`${api.api.url}/docs/`);
    await mine.page.goto(`${api.api.url}/docs/operations/producers`);
    expect(await mine.page.content()).toContain('pk_sandbox_mine');
    expect(await mine.page.getByText('The samples have placeholders').count()).toBe(0);
    expect(await mine.page.evaluate('document.cookie')).toBe('');
    const other = await open({ viewport: { width: 1280, height: 800 } });
    await other.page.goto(`${api.api.url}/docs/operations/producers`);
    expect(await other.page.content()).not.toContain('pk_sandbox_mine');
    expect([mine.faults, other.faults]).toEqual([[], []]);
    await mine.close();
    await other.close();
  });

  test('can be read, unfolded and gone through without a script', async () => {
    const { page, faults, close } = await open({
      viewport: { width: 390, height: 800 },
      javaScriptEnabled: false,
    });
    await page.goto(`${api.api.url}/docs/events/fiatToCrypto`);
    expect(await page.locator('#search').isVisible()).toBe(false);
    for (const version of ['2.3.8', '2.2.8']) {
      expect(await page.getByText(`In version ${version}`, { exact: true }).isVisible()).toBe(true);
    }
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Webhook endpoints' }).click();
    await page.waitForURL('**/operations/webhook-endpoints');
    await page.locator('label', { hasText: 'Go' }).first().click();
    expect(await page.locator('.code:visible', { hasText: 'package main' }).count()).toBe(1);
    expect(faults).toEqual([]);
    await close();
  });
});
