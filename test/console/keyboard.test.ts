/**
 * The console by the keyboard alone: "did you ever send me anything for transaction X?", from the sign-in to the delivery, with
 * a focus that is seen at each step and goes through the page in its order.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startConsoleService } from './support/console-service.ts';
import { consoleSuite, FLOW_MAX_MS, HAS_BROWSER, WAIT_MAX_MS } from './support/console-suite.ts';

/** More steps than a person would go. */
const STEPS_MAX = 60;

const suite = consoleSuite(async () => {
  const service = await startConsoleService();
  await service.sim('trigger', 'fiatToCrypto/PENDING', '--wait', '0s');
  return service;
});

interface Focus {
  readonly name: string;
  /** Whether a person sees where it is. */
  readonly isSeen: boolean;
  /** Whether it is after the element that had it before. */
  readonly isAfter: boolean;
}

/** Looks at the element that has the focus; null for the page itself. */
const FOCUS = `(() => {
  const { activeElement: now } = document;
  if (now === null || now === document.body) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(now);
  const { width, height, left, top } = now.getBoundingClientRect();
  const isIn = width > 1 && height > 1 && left >= 0 && top >= 0 && left < innerWidth && top < innerHeight;
  const before = window.focusBefore;
  window.focusBefore = now;
  return {
    name: (now.getAttribute('aria-label') ?? now.textContent).trim(),
    isSeen: isIn && outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    isAfter: !before?.isConnected || Boolean(before.compareDocumentPosition(now) & Node.DOCUMENT_POSITION_FOLLOWING),
  };
})()`;

/** Presses Tab until something with this name has the focus; returns the names on the way. */
async function tabTo(page: Page, wanted: RegExp): Promise<readonly string[]> {
  const names: string[] = [];
  while (names.length < STEPS_MAX) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate<Focus | null>(FOCUS);
    if (focus === null) continue;
    names.push(focus.name);
    expect(focus).toEqual({ name: focus.name, isSeen: true, isAfter: true });
    if (wanted.test(focus.name)) return names;
  }
  throw new Error(`the keyboard does not get to ${wanted}, but to ${names.join(', ')}`);
}

describe.skipIf(!HAS_BROWSER)('the console by the keyboard', { timeout: FLOW_MAX_MS }, () => {
  test('finds a transaction and reads its delivery, with a focus that is seen and in order', async () => {
    const [found] = (await suite.service.sim('events', 'list')) as { subject_uuid: string }[];
    const { page, context, faults } = await suite.open({
      viewport: { width: 1280, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(WAIT_MAX_MS);
    await page.goto(await suite.service.link());
    await page.getByRole('button', { name: 'Open' }).waitFor();
    expect(await tabTo(page, /^Open$/)).toEqual(['Open']);
    await page.keyboard.press('Enter');
    await page.locator('.all-rows .line').first().waitFor();

    const first = await tabTo(page, /^Skip to the content$/);
    expect(first).toHaveLength(1);
    await page.keyboard.press('Enter');
    await eventually('the content has the focus', async () => {
      return (await page.evaluate('document.activeElement.id')) === 'main';
    });
    expect((await tabTo(page, /^Type$/)).length).toBe(1);

    await page.keyboard.press('Control+K');
    await page.keyboard.type(found?.subject_uuid ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /The state now is PENDING/ }).waitFor();
    await page.evaluate('window.focusBefore = undefined');
    await tabTo(page, /^Delivery .*, delivered after 1 attempt$/);
    await page.keyboard.press('Enter');
    await page.locator('.schedule').waitFor();

    await page.evaluate('window.focusBefore = undefined');
    await tabTo(page, /^Show attempt 1/);
    await tabTo(page, /^Copy as curl/);
    await page.keyboard.press('Enter');
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^curl 'https:\/\/localhost:\d+\/shop'/,
    );
    // A browser without a window has no keys of its own.
    await page.goBack();
    await page.getByRole('img', { name: /The state now is PENDING/ }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('opens a row of the list, and filters it', async () => {
    const { page, context } = await suite.open();
    context.setDefaultTimeout(WAIT_MAX_MS);
    await page.goto(await suite.service.link());
    await page.getByRole('button', { name: 'Open' }).press('Enter');
    await page.locator('.all-rows .line').first().waitFor();
    await tabTo(page, /^All endpoints|^Endpoint$/);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.waitForURL(/failed=true/);
    expect(await page.getByLabel('Failed only').isChecked()).toBe(true);
    await tabTo(page, /^fiatToCrypto\/PENDING$/);
    await page.keyboard.press('Enter');
    await page.locator('.schedule').waitFor();
    await context.close();
  });
});
