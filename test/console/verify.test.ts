/** The screen that explains why a check of a signature fails: with a webhook that was sent, right and altered. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { differenceOf } from '../../console/verify/difference.ts';
import { faultsOf, type Opened } from './support/console-browser.ts';
import { startConsoleService } from './support/console-service.ts';
import { consoleSuite, FLOW_MAX_MS, HAS_BROWSER, SCREENS } from './support/console-suite.ts';

let secret: string;
const suite = consoleSuite(async () => {
  const service = await startConsoleService();
  const url = `${service.receiver.url}/checked`;
  const made = await service.sim(
    'endpoints',
    'create',
    '--url',
    url,
    '--description',
    'checked',
    '--public-key-signature',
  );
  secret = (made as { signing_secret: string }).signing_secret;
  await service.sim('trigger', 'fiatToCrypto/PENDING');
  return service;
});

/** Opens the console, the delivery to the endpoint whose secret is known, and its check. */
async function atTheCheck(options: BrowserContextOptions): Promise<Opened> {
  const opened = await suite.signedIn(options);
  const { page } = opened;
  const row = page.locator('.all-rows .line', { has: page.getByText('checked', { exact: true }) });
  await row.locator('.whole').click();
  await page.getByRole('link', { name: 'Verify it' }).click();
  await page.getByRole('heading', { name: 'Verify' }).waitFor();
  return opened;
}

const says = (page: Page, text: string | RegExp) =>
  page.locator('.verified').getByText(text).first().waitFor();

describe.skipIf(!HAS_BROWSER)('the check of a signature', { timeout: FLOW_MAX_MS }, () => {
  test('takes a webhook as it was sent, and names each alteration', async () => {
    const { page, faults, context } = await atTheCheck({ viewport: { width: 1280, height: 900 } });
    await says(page, 'Paste the secret of the endpoint');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url() + (request.postData() ?? '')));
    await page.getByLabel('Secret of the endpoint').fill(secret);
    await says(page, 'Authentic: a receiver takes it');
    await says(page, /the platform has made it, with the key/);
    const headers = page.getByLabel('Headers');
    const body = page.getByLabel('Body', { exact: true });
    const [head, text] = [await headers.inputValue(), await body.inputValue()];

    await body.fill(`${text}\n`);
    await says(page, /the body ends with a line break \(LF\)/);
    await says(page, /the one public key does not verify it/);
    await body.fill(JSON.stringify(JSON.parse(text), null, 2).replace(/: (\d+)(?=[,\n])/, ': $1.000'));
    await says(page, /and has the same data/);
    await body.fill(text.replace('PENDING', 'SUCCESS'));
    await says(page, /The body differs from character \d+ on\./);
    await body.fill(text);
    await says(page, 'Authentic: a receiver takes it');

    await headers.fill(head.replace('webhook-id', 'webhook_id'));
    await says(page, /but one named "webhook_id"/);
    await headers.fill(head.replace(/(webhook-timestamp: )\d+/, '$11700000000'));
    await says(page, 'The body is the one that was sent');
    await headers.fill(head);
    await page.getByLabel('Secret of the endpoint').fill(`whsec_${Buffer.alloc(32, 1).toString('base64')}`);
    await says(page, /another secret, or a changed body, id or timestamp/);

    // Only the delivery with which the body is compared is asked for.
    expect(
      sent.filter(
        (request) =>
          !/\/deliveries\/[0-9a-f-]{36}$|\/merchant$|webhook-endpoints\?|webhook-keys$/.test(request),
      ),
    ).toEqual([]);
    expect(sent.join(' ')).not.toContain(secret.slice('whsec_'.length));
    await page.reload();
    await says(page, 'Paste the secret of the endpoint');
    expect(await page.getByLabel('Secret of the endpoint').inputValue()).toBe('');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('takes a curl command, and a file with all its bytes', async () => {
    const { page, faults, context } = await atTheCheck({ viewport: { width: 1280, height: 900 } });
    const text = await page.getByLabel('Body', { exact: true }).inputValue();
    const head = await page.getByLabel('Headers').inputValue();
    await page.getByRole('link', { name: 'Verify', exact: true }).click();
    await says(page, 'Paste the headers, or a whole request.');
    const options = head
      .split('\n')
      .map((line) => `-H '${line}'`)
      .join(' \\\n  ');
    await page
      .getByLabel('Headers')
      .fill(`curl 'https://a.example/' \\\n  ${options} \\\n  --data-raw '${text}'`);
    expect(await page.getByLabel('Body', { exact: true }).inputValue()).toBe(text);
    await page.getByLabel('Secret of the endpoint').fill(secret);
    await says(page, 'Authentic: a receiver takes it');
    await page.locator('input[type=file]').setInputFiles({
      name: 'body.json',
      mimeType: 'application/json',
      buffer: Buffer.from(`${text}\r\n`),
    });
    await says(page, /ends with a line break \(CRLF\)/);
    expect(faults).toEqual([]);
    await context.close();
  });

  test.each(SCREENS)('fits a screen of %i pixels, %s', async (width, colorScheme) => {
    const { page, faults, context } = await atTheCheck({ viewport: { width, height: 800 }, colorScheme });
    await page.getByLabel('Secret of the endpoint').fill('whsec_short');
    await says(page, /the secret is not whole/);
    expect(await faultsOf(page)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });
});

test('the first difference of two bodies is shown with what is around it', () => {
  expect(differenceOf('{"a":10.00}', '{"a":10.00}')).toBeUndefined();
  expect(differenceOf('{"a":10.00}', '{"a":10}')).toEqual({
    at: 8,
    sent: '{"a":10.00}',
    yours: '{"a":10}',
    isSameData: true,
  });
  expect(differenceOf('{"a":1,"b":2}', '{"b":2,"a":1}')).toMatchObject({ at: 3, isSameData: true });
  expect(differenceOf('{"a":1}', '{"a":2}')).toMatchObject({ at: 6, isSameData: false });
});
