/**
 * A real browser, for tests of pages and for measurements in one: Debian’s Chromium, or the one that HOOKRAIL_TEST_CHROMIUM
 * names. Without one the tests are skipped and the reason is printed; with HOOKRAIL_REQUIRE_CHROMIUM=1 they fail.
 */
import { spawnSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Returns the path of the browser, or undefined, having said what is missing. */
export function findBrowser(): string | undefined {
  const { HOOKRAIL_TEST_CHROMIUM: given, HOOKRAIL_REQUIRE_CHROMIUM: required } = process.env;
  if (given) return given;
  const found = NAMES.map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout?.trim()).find(
    Boolean,
  );
  if (found) return found;
  const how = 'Chromium is missing (Debian: apt-get install --no-install-recommends chromium)';
  if (required === '1') throw new Error(`HOOKRAIL_REQUIRE_CHROMIUM=1: ${how}`);
  console.warn(`Pages are not opened in a browser: ${how}.`);
  return undefined;
}

/** Starts the browser. Its own sandbox needs rights that containers lack; the pages are ours. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
