import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

const LOOK_AT_PAGE = readFileSync(new URL('../../support/look-at-page.js', import.meta.url), 'utf8').trim();

export interface Opened {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The faults seen so far, which no page may have. */
  readonly faults: string[];
}

/** Opens a page that notes each message on the console, each failed response and each request to another host. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions,
): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => faults.push(`${page.url()} says ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`${page.url()} fails: ${error.message}`));
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.url()} is ${response.status()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) faults.push(`${page.url()} asks for ${request.url()}`);
  });
  return { context, page, faults };
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** Returns what is wrong with the page as it is shown: its width, headings and contrast, and what axe calls serious. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  const seen: string[] = await page.evaluate(`(() => { ${LOOK_AT_PAGE} return lookAtPage(); })()`);
  await page.evaluate(axe.source);
  const { violations }: { violations: Violation[] } = await page.evaluate('axe.run(document)');
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  return [...seen, ...serious];
}
