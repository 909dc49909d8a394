/** The sandbox's screen: a scenario is played, and lights up as its steps happen; one event is sent by a form. */
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { lineOf, textOf, valuesOf } from '../../console/play/form-values.ts';
import { SCENARIOS } from '../../console/play/scenarios.ts';
import { fieldsOf } from '../../services/domain/catalog/catalog.ts';
import { readScenario } from '../../simulator/scenario/library.ts';
import type { RawScenario } from '../../simulator/scenario/raw-scenario.ts';
import { faultsOf } from './support/console-browser.ts';
import { consoleSuite, FLOW_MAX_MS, HAS_BROWSER, SCREENS } from './support/console-suite.ts';

const suite = consoleSuite();
const atPlay = (options: BrowserContextOptions, link = {}) => suite.signedIn(options, link, 'Play');

describe.skipIf(!HAS_BROWSER)('the screen Play', { timeout: FLOW_MAX_MS }, () => {
  test.each(SCREENS)('plays a hold that resumes, on %i pixels, %s', async (width, colorScheme) => {
    const { page, faults, context } = await atPlay({ viewport: { width, height: 800 }, colorScheme });
    const state = (name: string) => page.getByRole('img', { name: new RegExp(`The state now is ${name}`) });
    const arrived = () =>
      suite.service.receiver.arrivals.filter((arrival) => arrival.path === '/shop').length;
    const before = arrived();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await state('ON_HOLD').waitFor();
    await state('IN_PROGRESS').waitFor();
    await state('SUCCESS').waitFor();
    expect(await page.locator('.play-steps .good').count()).toBe(7);
    const says = await page.locator('.machine svg').getAttribute('aria-label');
    expect(says).toContain('IN_PROGRESS, then ON_HOLD, then IN_PROGRESS');
    await page.getByRole('button', { name: 'Play again' }).waitFor();
    await page.locator('.story li .good', { hasText: 'received' }).nth(6).waitFor();
    expect(arrived() - before).toBe(7);
    expect(await faultsOf(page)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('goes on with the steps that are left after a reload', async () => {
    const { page, faults, context } = await atPlay({});
    await page.getByLabel('Scenario').selectOption('offramp.happy');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.getByRole('img', { name: /The state now is IN_PROGRESS/ }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Go on with/ }).click();
    await page.getByRole('img', { name: /The state now is SUCCESS/ }).waitFor();
    expect(await page.locator('.story > li').count()).toBe(4);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('sends one event with fields of one’s own, and shows what is refused', async () => {
    const { page, context } = await atPlay({});
    const form = page.locator('form', { hasText: 'One event' });
    await form.getByRole('combobox', { name: 'SubType' }).selectOption('ON_HOLD');
    await form.getByLabel('amountFiat').fill('much');
    await form.getByRole('button', { name: 'Send the event' }).click();
    await form.getByText('/data/amountFiat').waitFor();
    expect(await form.locator('.error code').textContent()).toMatch(/^[0-9a-f-]{36}$/);
    await form.getByLabel('amountFiat').fill('1234.56');
    await form.getByText("--set 'data.amountFiat=1234.56'").waitFor();
    await form.getByRole('button', { name: 'Send the event' }).click();
    await form.getByRole('link', { name: 'fiatToCrypto/ON_HOLD' }).click();
    await page.locator('.lines .good', { hasText: 'delivered' }).first().waitFor();
    await page.locator('.body', { hasText: '"amountFiat": 1234.56' }).waitFor();
    await context.close();
  });

  test('sends nothing for a session that only looks, and says why', async () => {
    const { page, faults, context } = await atPlay({}, { access: 'read' });
    expect(await page.getByRole('button', { name: 'Play', exact: true }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Send the event' }).isDisabled()).toBe(true);
    expect(await page.getByText('Your link is read-only.').count()).toBe(2);
    expect(faults).toEqual([]);
    await context.close();
  });
});

test.each(SCENARIOS)('$name has the steps and the words of the simulator’s library', (scenario) => {
  const raw = parse(readScenario(scenario.name).text) as RawScenario;
  const { title, teaches } = raw;
  expect({ title: scenario.title, teaches: scenario.teaches }).toEqual({ title, teaches });
  const steps = scenario.steps.map(({ type, subType, data = {} }) => ({
    emit: `${type}/${subType}`,
    set: Object.fromEntries(Object.entries(data).map(([name, value]) => [`data.${name}`, value])),
  }));
  expect(steps).toEqual(raw.steps.map(({ emit, set = {} }) => ({ emit, set })));
});

test('a form sends what was changed, in the kind of each field', () => {
  const fields = fieldsOf('KYC');
  const [number] = fields.filter(({ kind }) => kind === 'integer');
  expect(number).toBeDefined();
  const name = number?.name ?? '';
  expect(valuesOf(fields, {})).toEqual({});
  expect(valuesOf(fields, { [name]: '2', status: '' })).toEqual({ [name]: 2, status: null });
  expect(valuesOf(fields, { [name]: 'two' })).toEqual({ [name]: 'two' });
  expect([textOf(undefined), textOf('10.00'), textOf(2), textOf({ a: 1 })]).toEqual([
    '',
    '10.00',
    '2',
    '{"a":1}',
  ]);
  expect(lineOf('KYC', 'FULL_USER', { status: "it's", [name]: '' })).toBe(
    `sim trigger KYC/FULL_USER --set 'data.status=it'\\''s' --unset data.${name}`,
  );
});
