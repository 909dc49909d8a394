/**
 * Guarantee: a console that is open goes on at another api process, within seconds, when the one that served it is killed.
 * Live then shows each delivery once, those of the break as well. Real Chromium, two apis on PostgreSQL and Kafka behind
 * one address, and kill −9 of each in turn.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findBrowser, openBrowser } from '../../scripts/browser.ts';
import { eventually } from '../support/eventually.ts';
import { describeWithKafka } from '../support/kafka/suites.ts';
import { describeWithPostgres } from '../support/postgres/suites.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { startTwoApis, type TwoApis, type TwoApisOptions } from '../support/service/two-apis.ts';

const START_MS = 240_000;
const TIMEOUT_MS = 300_000;
const WAIT_MAX_MS = 60_000;
const ROUNDS = 4;

const path = findBrowser();

if (path === undefined) it.skip('the console needs Chromium', () => {});
else
  await describeWithKafka('the console with Kafka', (kafka) =>
    describeWithPostgres('on one PostgreSQL', (createDatabase) => suite(path, { kafka, createDatabase })),
  );

function suite(executable: string, place: Pick<TwoApisOptions, 'kafka' | 'createDatabase'>): void {
  let apis: TwoApis;
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(executable);
    apis = await startTwoApis({ ...place, delivers: true });
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    await apis?.dispose();
  });

  /** Makes a link by the address of both apis, as the platform does. */
  async function link(): Promise<string> {
    const { platformKey, merchantId } = apis.setup;
    const response = await fetch(`${apis.balancer.apiUrl}/platform/merchants/${merchantId}/portal-sessions`, {
      method: 'POST',
      headers: { authorization: `API-Key ${platformKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(201);
    return ((await response.json()) as { url: string }).url;
  }

  /** How many rows Live has: only those in sight are in the document. */
  async function rowsOf(page: Page): Promise<number> {
    const counts = await page
      .locator('.rows')
      .evaluateAll((lists) => lists.map((list) => list.getAttribute('aria-rowcount')));
    return Number(counts[0] ?? 0);
  }

  it('goes on at the other api when its own is killed, and misses no delivery', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await apis.merchant.createEndpoint(`${apis.receiver.url}/shop`);
    const page = await browser.newPage();
    page.setDefaultTimeout(WAIT_MAX_MS);
    await page.goto(await link());
    await page.getByRole('button', { name: 'Open' }).click();
    await page.locator('.state-of-live', { hasText: '● live' }).waitFor();
    let published = 0;
    const publish = async () => {
      published += 1;
      const { status } = await apis.merchant.publish([jsonEventOf(apis.setup.merchantId, `${published}`)]);
      expect(status).toBe(202);
    };
    const apiProcesses = apis.fleet.of('api');
    for (let round = 0; round < ROUNDS; round += 1) {
      const killed = apiProcesses[round % 2];
      await publish();
      expect(await killed?.end('SIGKILL')).toBeNull();
      await publish();
      await publish();
      await eventually(
        'Live shows what happened',
        async () => (await rowsOf(page)) === published,
        WAIT_MAX_MS,
      );
      await page.locator('.state-of-live', { hasText: '● live' }).waitFor();
      await killed?.start();
    }
    // A delivery that was made is shown as made, whichever api told of it.
    await eventually(
      'all are delivered',
      async () => (await page.locator('.outcome.good').count()) === published,
    );
    expect(await rowsOf(page)).toBe(published);
  });
}
