/**
 * Texts of strangers in a real browser: markup, script, formulas, terminal escapes and marks that hide or turn text, in every
 * field that a stranger writes, and on every screen. They are shown as text; none of them acts, and none is invisible.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { startConsoleService } from '../support/console-service.ts';
import { consoleSuite, FLOW_MAX_MS, HAS_BROWSER, WAIT_MAX_MS } from '../support/console-suite.ts';

/** Each acts, hides or reorders where it is not shown as text. `name` tells the fields apart. */
const hostile = (name: string) =>
  `=HYPERLINK("https://evil.example")<img src=x onerror="pwned='${name}'"><script>pwned='${name}'</script>` +
  `\u202e${name}\u2066\u200b\u00ad<b>bold</b>{{7*7}}`;
/** Beside these, what a receiver and a producer may send and a form may not. */
const controls = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u007f';
/** In an id, which is at most 128 characters long. */
const SUBJECT = '\u202e<b>x</b>"\u200b\'onload=pwned=1';

const suite = consoleSuite(async () => {
  const service = await startConsoleService({ merchantName: hostile('merchant') });
  const address = `${service.receiver.url}/<b>&"'=HYPERLINK(1)?q=<script>pwned=1</script>`;
  const described = ['--description', hostile('description').slice(0, 200)];
  await service.sim('endpoints', 'create', '--url', address, ...described);
  service.receiver.answerAt('/broken', {
    status: 500,
    body: hostile('response') + controls,
    headers: {
      'x-hostile': `<img src=x onerror=pwned=1> ${Buffer.from('\u202e', 'utf8').toString('latin1')}`,
    },
  });
  const name = `data.senderDetails.senderName=${hostile('event') + controls}`;
  await service.sim('trigger', 'fiatToCrypto/FAILED', '--set', name, '--wait', '0s');
  await service.sim('trigger', 'linkBankAccount', '--set', `data.uuid=${SUBJECT}`, '--wait', '0s');
  return service;
});

/** Characters that hide, turn or command what a person reads, in any text or attribute of a page; what acted; foreign elements. */
const FAULTS = `(() => {
  const hidden = /[\\p{Cc}\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]/u;
  const faults = [];
  const look = (where, text) => {
    if (hidden.test(text.replaceAll('\\n', ''))) faults.push(where + ' hides something: ' + JSON.stringify(text));
  };
  look('the title', document.title);
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) look('a text', walk.currentNode.data);
  for (const element of document.querySelectorAll('*')) {
    for (const { name, value } of element.attributes) {
      look(name + ' of ' + element.tagName, value);
      if (/^on/.test(name)) faults.push('a handler ' + name);
    }
    const address = element.getAttribute('href') ?? element.getAttribute('src') ?? '/';
    if (!/^([/#]|https:\\/\\/platform\\.example)/.test(address)) faults.push('a way to ' + address);
  }
  for (const element of document.body.querySelectorAll('img, b, script, iframe, object, embed, base, form[action]'))
    faults.push('an element ' + element.outerHTML);
  if ('pwned' in window) faults.push('a script ran: ' + window.pwned);
  return faults;
})()`;

/** The screens with something of a stranger on them: how each is reached, and a text that it shows. */
const SCREENS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  Live: (page) => page.locator('.all-rows .line', { hasText: String.raw`\u202e` }).first().waitFor(),
  'Live by transaction': async (page) => {
    await page.getByLabel('By transaction').check();
    await page.locator('.group a', { hasText: String.raw`\u202e` }).first().waitFor();
  },
  'the list of endpoints': (page) =>
    page.locator('option', { hasText: String.raw`\u202edescription` }).first().waitFor({ state: 'attached' }),
  'the merchant and the person': async (page) => {
    const merchant = page.locator('.merchant');
    expect(await merchant.textContent()).toContain(String.raw`\u202emerchant\u2066`);
    expect(await merchant.getAttribute('title')).toContain(String.raw`\u202eperson\u2066`);
  },
  'the story of a strange id': async (page) => {
    await lookUp(page, SUBJECT);
    await page.locator('.id code', { hasText: String.raw`\u202e<b>x</b>` }).waitFor();
    await page.locator('.fates', { hasText: 'description' }).first().waitFor();
  },
  'an id that nothing has': async (page) => {
    await lookUp(page, `${SUBJECT}?`);
    await page.getByText('Nothing of yours has this id').waitFor();
  },
  'an address that was made by a stranger': async (page) => {
    const address = new URL(page.url());
    await page.goto(
      `${address.origin}/console/subjects/${encodeURIComponent(hostile('address').slice(0, 120))}`,
    );
    await page.locator('.panel').first().waitFor();
  },
  'a delivery, its request and its response': async (page) => {
    await page.goto(new URL('/console/live?failed=true', page.url()).href);
    await page.locator('.all-rows .line', { hasText: 'FAILED' }).first().locator('.whole').click();
    await page.locator('.body', { hasText: String.raw`\u202eresponse` }).waitFor();
    for (const headers of await page.locator('details.headers').all())
      await headers.locator('summary').click();
    await page.locator('.headers', { hasText: '<img src=x onerror=pwned=1>' }).waitFor();
    await page.locator('.body', { hasText: '<script>' }).first().waitFor();
  },
  'a body as it was sent': async (page) => {
    await page.getByRole('button', { name: 'As sent' }).first().click();
    await page.locator('.body', { hasText: 'HYPERLINK' }).first().waitFor();
  },
  'an event': async (page) => {
    await page.goto(new URL('/console/live', page.url()).href);
    await page.locator('.all-rows .line', { hasText: 'filtered' }).first().locator('.whole').click();
    await page.locator('.body').waitFor();
  },
};

async function lookUp(page: Page, id: string): Promise<void> {
  await page.goto(new URL(`/console/find/${encodeURIComponent(id)}`, page.url()).href);
}

describe.skipIf(!HAS_BROWSER)('texts of strangers in the console', { timeout: FLOW_MAX_MS }, () => {
  test('are shown as text, and hide nothing, on every screen', async () => {
    const { page, context } = await suite.open();
    context.setDefaultTimeout(WAIT_MAX_MS);
    await page.goto(await suite.service.link({ person: hostile('person').slice(0, 200) }));
    await page.getByRole('button', { name: 'Open' }).click();
    for (const [screen, open] of Object.entries(SCREENS)) {
      await open(page);
      expect({ screen, faults: await page.evaluate(FAULTS) }).toEqual({ screen, faults: [] });
    }
    // Screens that are added later are looked at, too.
    const screens = page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
    for (const link of await screens.all()) {
      await link.click();
      await page.locator('main h1').first().waitFor();
      expect({ screen: page.url(), faults: await page.evaluate(FAULTS) }).toEqual({
        screen: page.url(),
        faults: [],
      });
    }
    await context.close();
  });
});
