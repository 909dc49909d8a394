/**
 * The console in a page of the platform, over HTTPS and across sites, in a real browser: the pages that the operator has
 * named embed it and hear its height, no other page does, and a session that ends is renewed where the person was.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, openBrowser } from '../../scripts/browser.ts';
import { createAuthority, issueCertificate } from '../../simulator/receiver/certificate-authority.ts';
import { sessionsOf } from '../support/api/console-visits.ts';
import { startTestApi } from '../support/api/test-api.ts';
import { eventually } from '../support/eventually.ts';
import { type ConsoleService, startConsoleService } from './support/console-service.ts';
import { type Sites, startSites } from './support/sites.ts';

const path = findBrowser();
/** These say when a browser hangs on a busy machine, not how fast it is. */
const START_MAX_MS = 120_000;
const FLOW_MAX_MS = 240_000;
const WAIT_MAX_MS = 60_000;
/** The address of a frame that the browser does not show. */
const REFUSED = 'chrome-error://chromewebdata/';
/** The height of the screen Live in a frame, in pixels, which the others do not need. */
const LIVE_HEIGHT = 720;
/** How long the height of a frame must stay, to be one that does not grow by itself. */
const STILL_MS = 1000;

let service: ConsoleService;
let browser: Browser;
let sites: Sites;
beforeAll(async () => {
  if (path === undefined) return;
  sites = await startSites(await issueCertificate(await createAuthority(), { hosts: ['localhost'] }));
  service = await startConsoleService({
    environment: {
      HOOKRAIL_API_NAMES: 'hooks.localhost',
      HOOKRAIL_CONSOLE_URL: `${sites.origin('hooks')}/console`,
      HOOKRAIL_CONSOLE_FRAME_ANCESTORS: `https://app.example.com,${sites.origin('app')}`,
    },
  });
  sites.lead('hooks', service.hookrail.apiUrl);
  const refresh_url = `${sites.origin('app')}/webhooks`;
  for (const name of ['app', 'evil'])
    sites.show(name, '/', async () => framing(await service.link({ refresh_url })));
  // The platform knows who asks, and sends him on to a link.
  sites.show('app', '/webhooks', async () => ({ to: await service.link({ refresh_url }) }));
  browser = await openBrowser(path);
}, START_MAX_MS);
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await sites?.close();
});

/** A page that embeds the console, and makes the frame as high as it says. */
function framing(address: string): string {
  return `<!doctype html><title>Platform</title><iframe src="${address}" title="Webhooks" width="900"></iframe><script>
    window.heights = [];
    addEventListener('message', ({ data, origin }) => {
      if (data?.type !== 'hookrail:height') return;
      heights.push({ origin, height: data.height });
      document.querySelector('iframe').height = data.height;
    });</script>`;
}

interface Told {
  readonly origin: string;
  readonly height: number;
}
const heightsOf = (page: Page) => page.evaluate<readonly Told[]>('window.heights');

async function visit(): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  context.setDefaultTimeout(WAIT_MAX_MS);
  return { context, page: await context.newPage() };
}

/** Ends every session of the merchant, as the platform does. */
async function endSessions(): Promise<void> {
  const { merchantId, platformKey } = service.setup;
  const response = await fetch(service.hookrail.apiUrl + sessionsOf(merchantId), {
    method: 'DELETE',
    headers: { authorization: `API-Key ${platformKey}` },
  });
  expect(response.status).toBe(200);
}

describe.skipIf(path === undefined)('the console and other sites', { timeout: FLOW_MAX_MS }, () => {
  test('a page that was not named may not embed the console', async () => {
    const { context, page } = await visit();
    await page.goto(`${sites.origin('evil')}/`);
    await eventually('the browser refuses', () => page.frames()[1]?.url() === REFUSED);
    expect(await heightsOf(page)).toEqual([]);
    await context.close();
  });

  test('a page that was not named hears no height, even where a browser lets it embed the console', async () => {
    const { context, page } = await visit();
    const frame = page.frameLocator('iframe');
    sites.lead('hooks', service.hookrail.apiUrl, 'content-security-policy');
    await page.goto(`${sites.origin('evil')}/`);
    await frame.getByRole('button', { name: 'Open' }).waitFor();
    await page.waitForTimeout(STILL_MS);
    expect(await heightsOf(page)).toEqual([]);
    await page.goto(`${sites.origin('app')}/`);
    await eventually('the page that was named hears it', async () => (await heightsOf(page)).length > 0);
    sites.lead('hooks', service.hookrail.apiUrl);
    await context.close();
  });

  test('without the setting no page may embed the console', async () => {
    const api = await startTestApi({ names: ['bare.localhost'] });
    sites.lead('bare', api.api.url);
    sites.show('app', '/bare', async () => framing(`${sites.origin('bare')}/console/`));
    const { context, page } = await visit();
    await page.goto(`${sites.origin('app')}/bare`);
    await eventually('the browser refuses', () => page.frames()[1]?.url() === REFUSED);
    // It answers, to whoever does not embed it.
    await page.goto(`${sites.origin('bare')}/console/`);
    await page.getByText('You are not signed in.').waitFor();
    await context.close();
    await api.close();
  });

  test('a page that was named embeds the console, and only it hears how high the console is', async () => {
    const { context, page } = await visit();
    await page.goto(`${sites.origin('app')}/`);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Open' }).click();
    await frame.getByRole('heading', { name: 'Live' }).waitFor();
    const [cookie] = await context.cookies(sites.origin('hooks'));
    expect(cookie).toMatchObject({
      name: '__Host-hookrail_console',
      sameSite: 'None',
      secure: true,
      httpOnly: true,
      partitionKey: sites.origin('app').replace(/:\d+$/, ''),
    });
    await frame.getByRole('link', { name: 'Find' }).click();
    await frame.locator('.pairs').waitFor();
    const height = async () => (await page.locator('iframe').boundingBox())?.height ?? 0;
    await eventually('the frame is no higher than the screen', async () => (await height()) < LIVE_HEIGHT);
    const told = await heightsOf(page);
    expect(new Set(told.map(({ origin }) => origin))).toEqual(new Set([sites.origin('hooks')]));
    // What a frame shows must not grow with the frame.
    await page.waitForTimeout(STILL_MS);
    expect(await heightsOf(page)).toEqual(told);
    await context.close();
  });

  test('in a frame, a reload keeps the session, and a page of its own is not signed in by it', async () => {
    const { context, page } = await visit();
    await page.goto(`${sites.origin('app')}/`);
    const [frame] = page.frames().slice(1);
    if (frame === undefined) throw new Error('no frame');
    await frame.getByRole('button', { name: 'Open' }).click();
    await frame.getByRole('heading', { name: 'Live' }).waitFor();
    await frame.goto(`${sites.origin('hooks')}/console/find`);
    await frame.locator('.pairs').waitFor();
    const alone = await context.newPage();
    await alone.goto(`${sites.origin('hooks')}/console/`);
    await alone.getByText('You are not signed in.').waitFor();
    await context.close();
  });

  test.each(['in a frame', 'in a window'])(
    '%s, a session that ends is renewed at the platform, and the person is where he was',
    async (where) => {
      const { context, page } = await visit();
      await page.goto(`${sites.origin('app')}/${where === 'in a frame' ? '' : 'webhooks'}`);
      const frame = where === 'in a frame' ? page.frames()[1] : page.mainFrame();
      if (frame === undefined) throw new Error('no frame');
      await frame.getByRole('button', { name: 'Open' }).click();
      await frame.getByRole('heading', { name: 'Live' }).waitFor();
      await frame.getByLabel('Failed only').check();
      await endSessions();
      await frame.getByText('Your session has ended.').waitFor();
      const place = frame.url();
      expect(place).toContain('failed=true');
      // A reload meanwhile loses neither the way to a new link nor the place.
      await frame.goto(place);
      await frame.getByRole('link', { name: 'Get a new link' }).click();
      await frame.getByRole('button', { name: 'Open' }).click();
      await frame.getByRole('heading', { name: 'Live' }).waitFor();
      await frame.waitForURL(place);
      expect(await frame.getByLabel('Failed only').isChecked()).toBe(true);
      // Who signs out leaves nothing to come back to.
      await frame.getByRole('button', { name: 'Sign out' }).click();
      await frame.getByRole('link', { name: 'Get a new link' }).click();
      await frame.getByRole('button', { name: 'Open' }).click();
      await frame.getByRole('heading', { name: 'Live' }).waitFor();
      expect(frame.url()).not.toContain('failed');
      await context.close();
    },
  );
});
