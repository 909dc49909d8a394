/**
 * The operator's console in a real browser: sign in, see whose fault it is, find an id, hold a merchant, and read the
 * quarantine. On a desk and on a phone, light and dark, no screen has a fault that axe calls serious.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { toolAnswer } from '../support/service/operator-tool.ts';
import { faultsOf, type Opened, openPage } from './support/console-browser.ts';
import { consoleSuite, FLOW_MAX_MS, HAS_BROWSER, SCREENS, WAIT_MAX_MS } from './support/console-suite.ts';
import { besidesOperated, startOperatedService, tokenOf } from './support/operated-service.ts';

const suite = consoleSuite(async () => {
  const service = await startOperatedService();
  await service.sim('trigger', 'fiatToCrypto/PENDING', '--wait', '0s');
  return service;
});

const consoleUrl = (screen = '') => `${suite.service.hookrail.operationsUrl}/console${screen}`;

/** Opens the page and signs in; what it says before anybody is signed in is no fault. */
async function signedIn(options: Parameters<typeof openPage>[2] = {}): Promise<Opened> {
  const opened = await openPage(suite.browser, suite.service.hookrail.operationsUrl, options);
  opened.context.setDefaultTimeout(WAIT_MAX_MS);
  const { page, faults } = opened;
  await page.goto(consoleUrl());
  await page.getByLabel('Your name, for the audit').fill('Ann Müller');
  expect(await faultsOf(page)).toEqual([]);
  faults.length = 0;
  await page.getByLabel("The operator's token").fill(tokenOf(suite.service));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.tiles').waitFor();
  return opened;
}

async function find(page: Page, id: string): Promise<void> {
  await page.keyboard.press('Control+K');
  await page.keyboard.type(id);
  await page.keyboard.press('Enter');
}

describe.skipIf(!HAS_BROWSER)("the operator's console", { timeout: FLOW_MAX_MS }, () => {
  test.each(SCREENS)(
    'tells that a receiver fails and we work, and leads to what to do, on %i pixels, %s',
    async (width, colorScheme) => {
      const { page, faults, context } = await signedIn({ viewport: { width, height: 800 }, colorScheme });
      await page.getByRole('heading', { name: 'It is them: receivers fail, we work' }).waitFor();
      const finding = page.locator('.findings li', { hasText: 'fails with http_5xx' });
      await finding.getByRole('link', { name: 'What to do' }).click();
      await page.getByText('More than half of all attempts fail.').waitFor();
      await page.goBack();
      await finding.getByRole('link', { name: 'Show' }).click();
      await page.getByRole('row', { name: /\/broken.*failing.*never/ }).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  test('finds an id of whatever merchant, and tells its story down to the attempts', async () => {
    const { page, faults, context } = await signedIn();
    const [found] = (await suite.service.sim('events', 'list')) as {
      subject_uuid: string;
      event_uuid: string;
    }[];
    await find(page, found?.subject_uuid ?? '');
    await page.getByText('The receiver, or a gateway in front of it, failed.').waitFor();
    await page.getByRole('link', { name: /^Delivery .* failed after/ }).click();
    await page.getByRole('row', { name: /^1 .*500/ }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'The event and its other endpoints' }).click();
    await page.getByText(found?.event_uuid ?? '').waitFor();
    await page.goBack();
    await page.getByRole('row', { name: /^1 .*500/ }).waitFor();
    expect(faults).toEqual([]);
    await find(page, 'nothing-has-this');
    await page.getByText('nothing has the id nothing-has-this: it was deleted with age').waitFor();
    expect(await page.locator('.panel.error code').textContent()).toMatch(/^[0-9a-f-]{36}$/);
    await context.close();
  });

  test('holds a merchant with a reason, ends the hold, and makes a link to look as the merchant', async () => {
    const { page, faults, context } = await signedIn();
    await page.goto(consoleUrl(`/merchants/${suite.service.setup.merchantId}`));
    await page.getByLabel('Reason, for the audit').fill('flooded');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('.outcome', { hasText: 'on hold' }).waitFor();
    await page.getByRole('row', { name: /merchant\.update.*Ann Müller.*flooded/ }).waitFor();
    await page.getByLabel('Reason, for the audit').fill('they have scaled up');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.outcome.good', { hasText: 'active' }).first().waitFor();
    await page.getByRole('button', { name: 'Look as the merchant' }).click();
    const link = page.getByRole('link', { name: "Open the merchant's console" });
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/hooks\.example\.com\/console\/#link=/);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('shows what is wrong with a quarantined event, and publishes a conflict under a new id', async () => {
    const { page, faults, context } = await signedIn();
    await page.getByRole('link', { name: 'Quarantine', exact: true }).click();
    await page.getByRole('link', { name: 'The event breaks a rule' }).click();
    await page.locator('mark', { hasText: '"status": "PENDING"' }).waitFor();
    await page.locator('.fault', { hasText: '/data/status must not be PENDING on SUCCESS' }).waitFor();
    await page.getByText('It stays').waitFor();
    expect(await page.getByRole('button', { name: 'Put it back' }).count()).toBe(0);
    await page.goBack();
    await page.getByRole('link', { name: 'Another event has this id' }).click();
    await page.getByRole('button', { name: /^Publish it under the new id/ }).click();
    await page.getByRole('button', { name: /^Yes: Publish it/ }).click();
    await page.getByText('1 put back').waitFor();
    const [unknown] = await toolAnswer(
      besidesOperated(suite.service).environment,
      ...['quarantine', 'list', '--reason', 'unknown_merchant'],
    );
    await find(page, unknown.eventId);
    await page.getByText('There is no such merchant').waitFor();
    await page.locator('.outcome.bad', { hasText: 'in quarantine' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('signs out in every tab, and says that the session has ended', async () => {
    const { page, context } = await signedIn();
    const other = await context.newPage();
    await other.goto(consoleUrl('/now'));
    await other.locator('.tiles').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You have signed out.').waitFor();
    await other.getByLabel('Your name, for the audit').waitFor();
    await context.close();
  });

  test.each(SCREENS)('fits a screen of %i pixels, %s, on every screen', async (width, colorScheme) => {
    const { page, faults, context } = await signedIn({ viewport: { width, height: 800 }, colorScheme });
    expect(await faultsOf(page)).toEqual([]);
    for (const screen of [
      ...[
        '/merchants',
        `/merchants/${suite.service.setup.merchantId}`,
        '/deliveries',
        '/quarantine',
        '/quarantine/2',
      ],
      ...['/dead-letters', '/replays', '/audit', '/find', '/runbook/HookrailTasksParked'],
    ]) {
      await page.goto(consoleUrl(screen));
      await page.locator('h1').first().waitFor();
      await page.waitForLoadState('networkidle');
      expect([screen, await faultsOf(page)]).toEqual([screen, []]);
    }
    expect(faults).toEqual([]);
    await context.close();
  });
});

test('every finding has its section in the runbook', () => {
  const runbook = readFileSync('docs/operate/README.md', 'utf8');
  const folder = 'console/operator/now';
  const text = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
  const alerts = [...text.join('').matchAll(/\bHookrail[A-Z]\w+/g)].map(([alert]) => alert);
  expect(alerts.length).toBeGreaterThan(8);
  for (const alert of alerts) expect(runbook).toContain(`### ${alert}\n`);
});
