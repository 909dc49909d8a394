/**
 * The screens of endpoints in a real browser, on a real service with real deliveries: whose fault it is when nothing
 * arrives, whether a repair has helped, and changes that lose nothing.
 */
import { randomUUID } from 'node:crypto';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { faultsOf } from './support/console-browser.ts';
import { consoleSuite, FLOW_MAX_MS, HAS_BROWSER, SCREENS, WAIT_MAX_MS } from './support/console-suite.ts';

const suite = consoleSuite();
const atEndpoints = (options: BrowserContextOptions = {}, link = {}) =>
  suite.signedIn({ reducedMotion: 'reduce', ...options }, link, 'Endpoints');

/** Makes an endpoint with a receiver of its own. Its name is its description and its path. */
async function endpoint(
  version = '2.3.8',
  url = suite.service.receiver.url,
  more: readonly string[] = [],
): Promise<string> {
  const name = `e${randomUUID().slice(0, 8)}`;
  const line = ['endpoints', 'create', '--url', `${url}/${name}`, '--description', name];
  await suite.service.sim(...line, '--api-version', version, ...more);
  return name;
}

const arrivalsAt = (name: string) =>
  suite.service.receiver.arrivals.filter(({ path: at }) => at === `/${name}`);
const send = () => suite.service.sim('trigger', 'fiatToCrypto/SUCCESS', '--wait', '0s');
const open = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click();
async function openHealth(page: Page, name: string): Promise<void> {
  await open(page, name);
  await page.getByRole('heading', { name: 'Is it me?' }).waitFor();
}
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const verdict = (page: Page, side: string, says: string) =>
  page.locator('.whose', { hasText: side }).filter({ hasText: says });

describe.skipIf(!HAS_BROWSER)('the endpoints of the console', { timeout: FLOW_MAX_MS }, () => {
  test.each(SCREENS)(
    'move to 2.3.8 without losing one event, on a screen of %i pixels, %s',
    async (width, colorScheme) => {
      const name = await endpoint('2.2.8');
      await send();
      const { page, faults, context } = await atEndpoints({ viewport: { width, height: 800 }, colorScheme });
      await page.locator('.whose').first().waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await open(page, name);
      await page.getByRole('heading', { name: 'Last 7 days' }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await open(page, 'Version');
      await page.locator('.differs', { hasText: 'data.senderDetails.senderName' }).waitFor();
      expect(await faultsOf(page)).toEqual([]);

      let isMoved = false;
      let sent = 1;
      const flow = (async () => {
        while (!isMoved) {
          await send();
          sent += 1;
        }
      })();
      await press(page, 'Move to 2.3.8…');
      await page.getByText('It also gets: fiatToCrypto/PENDING, REFUNDED').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await press(page, 'Move to 2.3.8');
      await page.getByText('It is in force: version 2.3.8.').waitFor();
      isMoved = true;
      await flow;
      await send();
      sent += 1;
      await eventually('each event has arrived', () => arrivalsAt(name).length >= sent, WAIT_MAX_MS);
      expect(new Set(arrivalsAt(name).map(({ deliveryId }) => deliveryId)).size).toBe(sent);
      const versions = await eventually('the log has each delivery', async () => {
        const found = await versionsOf(name);
        return found.length === sent ? found : undefined;
      });
      expect([versions[0], versions.at(-1)]).toEqual(['2.3.8', '2.2.8']);

      await open(page, 'Health');
      await verdict(page, 'healthy', 'Last success').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  test.each(SCREENS)(
    'say why deliveries fail, and that a repair has helped, on %i pixels, %s',
    async (width, colorScheme) => {
      const name = await endpoint();
      suite.service.receiver.answerAt(`/${name}`, { status: 500, body: '{"error":"no database"}' });
      await send();
      const { page, faults, context } = await atEndpoints({ viewport: { width, height: 800 }, colorScheme });
      await verdict(page, 'yours', 'HTTP 500 from your server, no success so far').first().waitFor();
      await openHealth(page, name);
      await verdict(page, 'yours', 'HTTP 500').waitFor();
      await page.getByText('failed attempts in a row').waitFor();
      await page.getByRole('link', { name: 'fiatToCrypto/SUCCESS' }).first().click();
      await page.locator('.body', { hasText: 'no database' }).waitFor();

      suite.service.receiver.answerAt(`/${name}`, { status: 200, body: 'stored' });
      await press(page, 'Resend');
      await page.getByText('Sent again as').waitFor();
      await page.getByRole('heading').getByRole('link', { name }).click();
      await page.getByRole('heading', { name: 'Is it me?' }).waitFor();
      // The resend has arrived, or already the retry, which counts as a success.
      await verdict(page, 'healthy', ' at ').waitFor();

      await open(page, 'Test');
      await press(page, 'Send test');
      await page.locator('.answer-of-test', { hasText: 'HTTP 200' }).waitFor();
      await page.locator('.answer-of-test .body', { hasText: 'stored' }).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  test.each(SCREENS)(
    'tell the fault of the network from a hold of the platform, on %i pixels, %s',
    async (width, colorScheme) => {
      await endpoint('2.3.8', 'https://localhost:1');
      const name = await endpoint();
      await send();
      const { page, faults, context } = await atEndpoints({ viewport: { width, height: 800 }, colorScheme });
      await verdict(page, 'the network', 'The connection is refused').first().waitFor();
      await suite.service.operator('merchants', 'pause', suite.service.setup.merchantId);
      try {
        await send();
        await openHealth(page, name);
        await verdict(
          page,
          'ours',
          'The operator has put your deliveries on hold. 1 delivery waits',
        ).waitFor();
      } finally {
        await suite.service.operator('merchants', 'resume', suite.service.setup.merchantId);
      }
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  test('have below them the addresses that webhooks come from, or that they are not fixed', async () => {
    const { page, faults, context } = await atEndpoints();
    await page.getByText('Addresses that webhooks come from').click();
    await page.getByText('The addresses from which webhooks come are not fixed').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('are made with a secret that is shown once, and a refusal is shown at its field', async () => {
    const { page, context } = await atEndpoints();
    await open(page, 'New endpoint');
    const url = page.getByRole('textbox', { name: 'URL' });
    await url.fill('https://10.0.0.1/hooks');
    await page.getByLabel('Description').fill('made here');
    await press(page, 'Create');
    await page.getByText('The host must be a DNS name, not an IP address.').waitFor();
    expect(await url.getAttribute('aria-invalid')).toBe('true');
    await url.fill(`${suite.service.receiver.url}/shop`);
    await press(page, 'Create');
    await page.getByRole('link', { name: 'Show that endpoint' }).waitFor();
    await url.fill(`${suite.service.receiver.url}/${randomUUID()}`);
    await page.getByLabel('Only these').check();
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await page.getByLabel('fiatToCrypto').check();
    await page.getByText(/^It lets [1-9]\d* of the \d+ events of last week through\.$/).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await press(page, 'Create');
    await page.locator('.secret-once code', { hasText: /^whsec_/ }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'I have the secret' }).click();
    await page.getByText('only fiatToCrypto').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'New endpoint' }).waitFor();
    expect(await page.getByText('whsec_').count()).toBe(0);
    await context.close();
  });

  test('rotate their secret in three steps, each after the one before', async () => {
    const name = await endpoint();
    const { page, faults, context } = await atEndpoints();
    await open(page, name);
    await open(page, 'Secret');
    const rotate = page.getByRole('button', { name: 'Rotate now' });
    await rotate.waitFor();
    const deployed = page.getByLabel('It is deployed');
    const isOff = async () => [
      await deployed.isDisabled(),
      await rotate.isDisabled(),
      await page.getByRole('button', { name: 'Send test' }).count(),
    ];
    expect(await isOff()).toEqual([true, true, 0]);
    await press(page, 'Prepare a secret');
    const secret = await page.locator('.secret-once code').textContent();
    expect(secret).toMatch(/^whsec_/);
    expect(await isOff()).toEqual([false, true, 0]);
    await deployed.check();
    await press(page, 'Send test');
    await page.locator('.answer-of-test', { hasText: 'HTTP 200' }).waitFor();
    expect(arrivalsAt(name).map(({ authorization }) => authorization)).toEqual([`API-Key ${secret}`]);
    expect(await faultsOf(page)).toEqual([]);
    await rotate.click();
    await page.getByText('Take the old secret out').first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.reload();
    await page.getByText('less than a minute old').waitFor();
    expect(await page.locator('.secret-once').count()).toBe(0);
    // Discarded, it can no longer be rotated to.
    await press(page, 'Prepare a secret');
    await press(page, 'Discard it');
    await page.getByText('Prepared:').waitFor({ state: 'detached' });
    expect(await isOff()).toEqual([true, true, 0]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('are changed, disabled, enabled with what they missed, and deleted', async () => {
    const name = await endpoint();
    const { page, faults, context } = await atEndpoints();
    await open(page, name);
    await open(page, 'Settings');
    await page.getByLabel('Description').fill(`${name} changed`);
    await page.getByLabel('Only these').check();
    await page.getByLabel('fiatToCrypto').check();
    await page.getByText('The filter counts for events from now on.').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await press(page, 'Save');
    await page.getByText('Saved. It is in force.').waitFor();
    await page.getByRole('heading', { name: `${name} changed` }).waitFor();

    await open(page, 'Health');
    await press(page, 'Disable…');
    await page.getByText('Deliveries that wait are cancelled: 0.').waitFor();
    await press(page, 'Disable');
    await verdict(page, 'disabled', 'Disabled by you since').waitFor();
    await send();
    expect(arrivalsAt(name)).toEqual([]);
    await press(page, 'Enable…');
    await press(page, 'Enable');
    await page.getByText('What it has missed is on its way.').waitFor();
    await eventually('it gets what it has missed', () => arrivalsAt(name).length === 1, WAIT_MAX_MS);

    await press(page, 'Delete…');
    await page.keyboard.press('Escape');
    await press(page, 'Delete…');
    await page.getByText('What it has missed cannot be brought back.').waitFor();
    await press(page, 'Delete');
    await page.getByRole('heading', { name: 'Endpoints' }).waitFor();
    await page.getByRole('link', { name: `${name} changed` }).waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('of notices get the test of a notice, which says so', async () => {
    const name = await endpoint('2.3.8', suite.service.receiver.url, ['--kind', 'operational']);
    const { page, faults, context } = await atEndpoints();
    await open(page, name);
    await open(page, 'Test');
    await page.getByLabel('Notice').selectOption('certificate.expiring/WITHIN_1_DAY');
    await press(page, 'Send test');
    await page.locator('.answer-of-test', { hasText: 'HTTP 200' }).waitFor();
    await page.getByRole('link', { name: 'Request and response' }).click();
    await page
      .getByText(/Test: The certificate of .* in 20 hours\./)
      .first()
      .waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('are changed by nobody whose link is read-only', async () => {
    const name = await endpoint();
    const { page, context } = await atEndpoints({}, { access: 'read' });
    await open(page, name);
    const off = [
      ['Health', 'Disable…'],
      ['Health', 'Delete…'],
      ['Test', 'Send test'],
      ['Settings', 'Save'],
      ['Version', 'Move to 2.2.8…'],
      ['Secret', 'Rotate now'],
    ] as const;
    for (const [part, button] of off) {
      await open(page, part);
      await page.getByText('Your link is read-only.').first().waitFor();
      expect([button, await page.getByRole('button', { name: button }).isDisabled()]).toEqual([button, true]);
    }
    await context.close();
  });
});

/** Returns the versions of an endpoint's deliveries, newest first. */
async function versionsOf(name: string): Promise<readonly string[]> {
  const deliveries = await suite.service.sim('deliveries', 'list', '--endpoint', name, '--limit', '100');
  return (deliveries as { api_version: string }[]).map(({ api_version: version }) => version);
}
