/**
 * The scenarios that come with hookrail can be played, say what they teach, and show everything that the platform tells:
 * every subType of every type, every status.
 */
import { expect, test } from 'vitest';
import { BEHAVIOURS } from '../../../client/receiver-behaviours.ts';
import { fieldsOf, SUB_TYPES } from '../../../services/domain/catalog/catalog.ts';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import { scenarioNames } from '../../../simulator/scenario/library.ts';
import { openScenario } from '../../../simulator/scenario/open-scenario.ts';
import { planScenario } from '../../../simulator/scenario/plan.ts';
import { FORGERIES } from '../../../simulator/scenario/scenario-format.ts';

const NAMES = `
  onramp: happy hold-kyc-resume hold-aml-release hold-aml-refund hold-kyc-refund failed failed-then-refunded ach-pull
    sender-name-mismatch restricted-sender-details
  offramp: happy limit-breached hold-kyc-resume hold-aml-release hold-aml-refund initiation-failed bank-return
  kyc: happy soft-fail-retry hard-fail suspended duplicate-user
  kyb: happy rejected
  entity: block-unblock
  ledger: created failed disabled
  link: failed disabled
  wallet: created
  otp: bounce
  journey: individual corporate
  chaos: duplicates out-of-order late overtaken
  security: bad-secret bad-signature stale-timestamp replayed
  receiver: down flaky slow 500-then-200 410 redirect hang reset huge-body tls-expired
  rotate: mid-flight
  disable: mid-flight
  delete: mid-flight
  version: legacy
  filter: check
  load: mix`;

const expected = [...NAMES.matchAll(/(\w+):([^:]+)(?=\n {2}\w|$)/g)].flatMap(([, group, names = '']) =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => `${group}.${name}`),
);

const SCENARIOS = scenarioNames().map((name) => openScenario(name, { force: false }));

/** Every event of every scenario, in every variant. */
const EVENTS = SCENARIOS.flatMap((scenario) =>
  [{}, ...scenario.variants].flatMap((overrides) =>
    planScenario(scenario, { seed: '42', startAt: 1_900_000_000_000, merchantId: 'm', overrides }).map(
      ({ event }) => event,
    ),
  ),
);

test('the library has the 58 scenarios', () => {
  expect(expected).toHaveLength(58);
  expect(scenarioNames()).toEqual(expected.sort());
});

test.each(SCENARIOS)(
  'the scenario $name is named as its file, teaches something and expects something',
  ({ name, title, teaches, expect: expectations }) => {
    expect(scenarioNames()).toContain(name);
    expect(title).not.toBe(name);
    expect(teaches).not.toBe('');
    expect(expectations.length).toBeGreaterThan(0);
  },
);

test.each(EVENT_TYPES)('every subType of %s occurs in a scenario', (type) => {
  const played = EVENTS.filter((event) => event.type === type).map(({ subType }) => subType);
  expect(new Set(played)).toEqual(new Set(SUB_TYPES[type]));
});

test.each(EVENT_TYPES)('every status of %s occurs in a scenario', (type) => {
  const status = fieldsOf(type).find(({ name }) => name === 'status');
  const possible = SUB_TYPES[type].flatMap((subType) => status?.valuesOn?.[subType] ?? status?.values ?? []);
  const played = EVENTS.filter((event) => event.type === type).map(({ data }) => data.status);
  expect(played).toEqual(expect.arrayContaining([...new Set(possible)]));
});

test('the off-ramp is played in five currencies, on the chains whose minimum differs', () => {
  const payouts = EVENTS.filter(({ type, subType }) => type === 'cryptoToFiat' && subType === 'SUCCESS');
  const currencies = new Set(payouts.map(({ data }) => data.currencyFiat));
  expect(currencies).toEqual(new Set(['EUR', 'GBP', 'USD', 'NGN', 'KES']));
  const breached = EVENTS.filter(({ subType }) => subType === 'LIMIT_BREACHED');
  expect(new Set(breached.map(({ data }) => data.limit))).toEqual(new Set(['1', '5', '20']));
});

test('every forgery and the failures of receivers that the scenarios are named after are played', () => {
  const actions = SCENARIOS.flatMap((scenario) => scenario.actions.map(({ action }) => action));
  const forged = actions.flatMap((action) => (action.kind === 'forge' ? [action.how] : []));
  expect(new Set(forged)).toEqual(new Set(FORGERIES));
  const behaviours = SCENARIOS.flatMap(({ endpoints }) =>
    Object.values(endpoints).map((one) => one.behaviour),
  );
  const played = new Set<string>(behaviours);
  const wanted = ['500', '410', 'redirect', 'hang', 'reset', 'huge-body', 'flaky', 'ok'];
  expect(wanted.every((behaviour) => played.has(behaviour))).toBe(true);
  expect(BEHAVIOURS).toEqual(expect.arrayContaining(wanted.filter((behaviour) => behaviour !== 'flaky')));
});

test('an ACH pull is from the account that the scenario links, and a journey’s money arrives at its ledger', () => {
  const eventsOf = (name: string) => EVENTS.filter(({ eventId }) => idsOf(name).has(eventId));
  const pull = eventsOf('onramp.ach-pull');
  const linked = new Set(pull.filter(({ type }) => type === 'linkBankAccount').map(({ data }) => data.uuid));
  const from = new Set(
    pull.filter(({ type }) => type === 'fiatToCrypto').map(({ data }) => data.linkedBankAccountUuid),
  );
  expect([from, from.size]).toEqual([linked, 1]);
  const journey = eventsOf('journey.individual');
  const ledger = new Set(
    journey.filter(({ type }) => type === 'serviceBankAccount').map(({ data }) => data.uuid),
  );
  const into = journey
    .filter(({ type }) => type === 'fiatToCrypto')
    .map(({ data }) => data.internalBankAccountId);
  expect(new Set(into)).toEqual(ledger);
});

function idsOf(name: string): ReadonlySet<string> {
  const scenario = openScenario(name, { force: false });
  const options = { seed: '42', startAt: 1_900_000_000_000, merchantId: 'm' };
  return new Set(planScenario(scenario, options).map(({ event }) => event.eventId));
}
