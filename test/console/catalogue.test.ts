/** The catalogue: each type with its subTypes, fields and bodies, in a real browser. */
import { describe, expect, test } from 'vitest';
import samples from '../../console/generated/samples.json' with { type: 'json' };
import { SUB_TYPES, subTypesOf } from '../../services/domain/catalog/catalog.ts';
import { API_VERSIONS } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { faultsOf } from './support/console-browser.ts';
import { consoleSuite, FLOW_MAX_MS, HAS_BROWSER, SCREENS, WAIT_MAX_MS } from './support/console-suite.ts';

const suite = consoleSuite();

describe.skipIf(!HAS_BROWSER)('the catalogue', { timeout: FLOW_MAX_MS }, () => {
  test.each(SCREENS)(
    'shows a type and both versions of its body, on %i pixels, %s',
    async (width, colorScheme) => {
      const options = { viewport: { width, height: 800 }, colorScheme };
      const { page, faults, context } = await suite.open(options);
      context.setDefaultTimeout(WAIT_MAX_MS);
      await page.goto(await suite.service.link());
      await page.getByRole('button', { name: 'Open' }).click();
      await page.getByRole('link', { name: 'Catalogue', exact: true }).click();
      await page.getByRole('link', { name: 'KYC', exact: true }).click();
      await page.getByRole('link', { name: 'FULL_USER', exact: true }).click();
      await page.getByRole('heading', { name: 'Body of KYC/FULL_USER' }).waitFor();
      expect(page.url()).toContain('type=KYC&subType=FULL_USER');
      expect(await page.getByRole('heading', { name: /^Version / }).allTextContents()).toEqual([
        'Version 2.3.8',
        'Version 2.2.8',
      ]);
      await page.getByRole('button', { name: 'Go', exact: true }).click();
      await page.getByText('package main').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole('link', { name: 'AML', exact: true }).click();
      await page.getByText('This version does not have it').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
  );
});

test('there is a sample of every subType in every version that has it', () => {
  const bodies: Readonly<Record<string, Readonly<Record<string, string>>>> = samples.bodies;
  for (const type of EVENT_TYPES) {
    for (const subType of SUB_TYPES[type]) {
      const versions = API_VERSIONS.filter((version) => subTypesOf(type, version).includes(subType));
      const found = bodies[`${type}/${subType}`] ?? {};
      expect([type, subType, Object.keys(found).sort()]).toEqual([type, subType, [...versions].sort()]);
      for (const body of Object.values(found)) expect(JSON.parse(body)).toMatchObject({ type, subType });
    }
  }
});
