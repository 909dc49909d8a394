/**
 * The console in a real browser, on a real service with real deliveries: a link is opened, a webhook is sent, and it is
 * found, read and sent again. On a desk and on a phone, light and dark, no screen is wider than the window, asks another
 * host for anything, says anything on the console, or has a serious fault that axe knows.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TcpLine } from '../support/faults/tcp-line.ts';
import { faultsOf } from './support/console-browser.ts';
import { HOSTILE } from './support/console-service.ts';
import { consoleSuite, FLOW_MAX_MS, HAS_BROWSER, SCREENS, WAIT_MAX_MS } from './support/console-suite.ts';

const NOBODY_LISTENS = 1;

const suite = consoleSuite();

const rows = (page: Page) => page.locator('.all-rows .line');

describe.skipIf(!HAS_BROWSER)('the console', { timeout: FLOW_MAX_MS }, () => {
  test('shows a webhook as it is sent, its story and its delivery, and sends it again', async () => {
    const { page, faults, context } = await suite.signedIn({ viewport: { width: 1280, height: 800 } });
    await page.getByText('npx --no hookrail sim trigger').first().waitFor();
    await suite.service.sim('trigger', 'fiatToCrypto/PENDING', '--wait', '0s');
    await page.getByText('filtered').waitFor();
    await page.locator('.outcome.good', { hasText: '200' }).waitFor();
    await page.locator('.outcome.bad', { hasText: '500' }).waitFor();
    expect(await rows(page).count()).toBe(3);

    const [found] = (await suite.service.sim('events', 'list')) as { subject_uuid: string }[];
    await page.keyboard.press('Control+K');
    await page.keyboard.type(found?.subject_uuid ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /The state now is PENDING/ }).waitFor();
    await page.getByText("Not sent: the endpoint's subscribed_events did not have this type.").waitFor();
    expect(page.url()).toMatch(/\/console\/subjects\//);

    await page.getByRole('link', { name: /^Delivery .* delivered after 1 attempt$/ }).click();
    await page.locator('.schedule li').first().waitFor();
    expect(await page.locator('.schedule li').count()).toBe(7);
    const before = suite.service.receiver.arrivals.filter((arrival) => arrival.path === '/shop').length;
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('link', { name: /^delivery [0-9a-f]{8}$/ }).click();
    await page.locator('.facts .chip', { hasText: 'resend' }).waitFor();
    await eventually('the receiver gets it again', () => {
      return suite.service.receiver.arrivals.filter((arrival) => arrival.path === '/shop').length > before;
    });
    expect(faults).toEqual([]);
    await context.close();
  });

  test.each(SCREENS)(
    'tells what became of a transaction, and why an endpoint got nothing, on %i pixels, %s',
    async (width, colorScheme) => {
      const [found] = (await suite.service.sim('events', 'list')) as { subject_uuid: string }[];
      const { page, faults, context } = await suite.signedIn({
        viewport: { width, height: 800 },
        colorScheme,
      });
      await page.getByLabel('Find any id').fill(found?.subject_uuid ?? '');
      await page.keyboard.press('Enter');
      await page.getByText("Not sent: the endpoint's subscribed_events did not have this type.").waitFor();
      await page.getByText('Add the type to receive the next ones.').waitFor();
      await page
        .getByRole('link', { name: /^Delivery .* delivered after 1 attempt$/ })
        .first()
        .click();
      await page.locator('.schedule li').first().waitFor();
      await page.getByText(/^Delivered at .* by attempt 1: the receiver answered 200/).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  test('shows markup of strangers as text', async () => {
    const { page, faults, context } = await suite.signedIn({ viewport: { width: 1280, height: 800 } });
    await page.getByLabel('Failed only').check();
    await rows(page).first().locator('.whole').click();
    const shown = HOSTILE.replace('\u202e', String.raw`\u202e`);
    await page.getByRole('heading', { name: shown }).waitFor();
    await page.locator('.body', { hasText: '<b>bold</b>' }).waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
    expect(await page.title()).not.toBe('1');
    expect(faults).toEqual([]);
    await context.close();
  });

  test.each(SCREENS)('fits a screen of %i pixels, %s, on every screen', async (width, colorScheme) => {
    const { page, faults, context } = await suite.signedIn({ viewport: { width, height: 800 }, colorScheme });
    await rows(page).first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByLabel('By transaction').check();
    await page.locator('.group a').first().click();
    await page.locator('.machine').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page
      .getByRole('link', { name: /^Delivery .* failed after/ })
      .first()
      .click();
    await page.locator('.schedule').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Find' }).click();
    await page.locator('.pairs').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('says in the words of the API that nothing has an id, with the id of the request', async () => {
    const { page, context } = await suite.signedIn({});
    await page.getByLabel('Find any id').fill('nothing-has-this');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing of yours has this id').waitFor();
    expect(await page.locator('.panel code').textContent()).toMatch(/^[0-9a-f-]{36}$/);
    await context.close();
  });

  test('lets a session that only looks resend nothing', async () => {
    const { page, context } = await suite.signedIn({}, { access: 'read' });
    await rows(page).first().locator('.whole').waitFor();
    await page.getByLabel('Failed only').check();
    await rows(page).first().locator('.whole').click();
    await page.getByText('Your link is read-only.').waitFor();
    expect(await page.getByRole('button', { name: 'Resend' }).isDisabled()).toBe(true);
    await context.close();
  });

  test('keeps the place of a reader who has scrolled down, and counts what is new', async () => {
    const { page, context } = await suite.signedIn({ viewport: { width: 1280, height: 360 } });
    await suite.service
      .sim('run', 'onramp.happy', '--seed', '4', '--speed', 'instant')
      .catch(() => undefined);
    await eventually('there is more than fits', async () => (await rows(page).count()) > 12, WAIT_MAX_MS);
    const list = page.locator('.rows');
    await list.evaluate((element) => element.scrollTo({ top: 170 }));
    const first = page.locator('.all-rows .line[aria-rowindex="6"]').locator('.event, .endpoint');
    const before = await first.allTextContents();
    await suite.service.sim('trigger', 'KYC/FULL_USER', '--wait', '0s');
    const unseen = page.getByRole('button', { name: /^↑ \d+ new$/ });
    await unseen.waitFor();
    expect(await first.allTextContents()).toEqual(before);
    await unseen.click();
    await rows(page).filter({ hasText: 'FULL_USER' }).first().waitFor();
    await context.close();
  });

  test('goes on after a break where it was, and says so meanwhile', async () => {
    const port = Number(new URL(suite.service.hookrail.apiUrl).port);
    const line = await TcpLine.open(port);
    const { page, context } = await suite.open();
    const link = new URL(await suite.service.link());
    link.port = String(line.port);
    await page.goto(link.href);
    await page.getByRole('button', { name: 'Open' }).click();
    const state = (says: string) => page.locator('.state-of-live', { hasText: says }).waitFor();
    await state('● live');
    line.leadTo(NOBODY_LISTENS);
    await state('reconnecting');
    await suite.service.sim('trigger', 'KYB/ACTIVE', '--wait', '0s');
    expect(await rows(page).filter({ hasText: 'KYB/ACTIVE' }).count()).toBe(0);
    line.leadTo(port);
    await rows(page).filter({ hasText: 'KYB/ACTIVE' }).first().waitFor();
    await state('● live');
    await context.close();
    line.close();
  });

  test('spends a link once, and says when one does not work', async () => {
    const link = await suite.service.link();
    const first = await suite.open();
    await first.page.goto(link);
    await first.page.getByRole('button', { name: 'Open' }).click();
    await first.page.getByRole('button', { name: 'Sign out' }).click();
    await first.page.getByText('You have signed out.').waitFor();
    await first.page.goto(link);
    await first.page.reload();
    const again = await suite.open();
    await again.page.goto(link);
    await again.page.getByRole('button', { name: 'Open' }).click();
    await again.page.getByText('This link does not work').waitFor();
    await again.page.getByRole('button', { name: 'Continue' }).click();
    await again.page.getByText('You are not signed in.').waitFor();
    await first.context.close();
    await again.context.close();
  });
});
