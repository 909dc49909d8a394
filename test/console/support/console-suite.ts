import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { findBrowser, openBrowser } from '../../../scripts/browser.ts';
import { type Opened, openPage } from './console-browser.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';

const path = findBrowser();
export const HAS_BROWSER = path !== undefined;
/** These say when a browser hangs on a busy machine, not how fast it is. */
const START_MAX_MS = 120_000;
export const FLOW_MAX_MS = 240_000;
export const WAIT_MAX_MS = 60_000;

/** A desk and a phone, light and dark. */
export const SCREENS = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => [width, colorScheme] as const),
);

/** A service and a browser for the tests of a file. */
export interface ConsoleSuite {
  readonly service: ConsoleService;
  readonly browser: Browser;
  /** Opens a page that has seen nothing yet. */
  open(options?: BrowserContextOptions): Promise<Opened>;
  /** Opens the console by a link of its own: Live, or the screen of this name in the head. */
  signedIn(options?: BrowserContextOptions, link?: object, screen?: string): Promise<Opened>;
}

/** Starts the service and the browser before the tests of the file, and ends them after. Call it at the top of the file. */
export function consoleSuite(start: () => Promise<ConsoleService> = startConsoleService): ConsoleSuite {
  let service: ConsoleService | undefined;
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (path === undefined) return;
    service = await start();
    browser = await openBrowser(path);
  }, START_MAX_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });
  const suite = {
    get service() {
      return started(service);
    },
    get browser() {
      return started(browser);
    },
    async open(options: BrowserContextOptions = {}) {
      const opened = await openPage(suite.browser, suite.service.hookrail.apiUrl, options);
      opened.context.setDefaultTimeout(WAIT_MAX_MS);
      return opened;
    },
    async signedIn(options: BrowserContextOptions = {}, link = {}, screen = 'Live') {
      const opened = await suite.open(options);
      await opened.page.goto(await suite.service.link(link));
      const open = opened.page.getByRole('button', { name: 'Open' });
      await open.waitFor();
      expect(opened.page.url(), 'a token that has been read').not.toContain('link=');
      await open.click();
      await opened.page.getByRole('link', { name: screen, exact: true }).click();
      await opened.page.getByRole('heading', { name: screen, exact: true }).waitFor();
      return opened;
    },
  };
  return suite;
}

function started<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Error('it is started before the tests');
  return thing;
}
