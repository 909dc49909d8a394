/**
 * A scenario file is either played as it is or refused with every finding and its line; the scenarios of hookrail can
 * be played.
 */
import { expect, test } from 'vitest';
import { scenarioNames } from '../../../simulator/scenario/library.ts';
import { openScenario } from '../../../simulator/scenario/open-scenario.ts';
import { parseScenario, ScenarioFailure } from '../../../simulator/scenario/scenario.ts';

function findings(text: string, force = false): readonly string[] {
  try {
    parseScenario(text, 'file.yaml', { force });
    return [];
  } catch (error) {
    if (!(error instanceof ScenarioFailure)) throw error;
    return error.message.split('\n');
  }
}

test('the library of scenarios exists', () => {
  expect(scenarioNames()).toEqual(
    expect.arrayContaining(['kyc.happy', 'offramp.happy', 'onramp.happy', 'onramp.hold-kyc-resume']),
  );
});

test.each(scenarioNames())('the scenario %s is legal, named as its file, and expects something', (name) => {
  const scenario = openScenario(name, { force: false });
  expect(scenario.name).toBe(name);
  expect(scenario.expect.length).toBeGreaterThan(0);
});

test('every finding in a scenario has its line', () => {
  expect(
    findings(`name: Not A Name
entitis: {}
steps:
  - { id: one }
  - { id: two, emit: KYC/KYC_NEEDED, after: 2 seconds }
  - { id: three, emit: 7 }
expect:
  - step: one
    status: deliverd
`),
  ).toEqual([
    'file.yaml:1: name "Not A Name" does not match ^[a-z0-9]+([.-][a-z0-9]+)*$',
    'file.yaml:2: entitis is not a known property; did you mean entities?',
    'file.yaml:4: steps[0] has no "emit"',
    expect.stringMatching(/^file\.yaml:5: steps\[1\]\.after "2 seconds" does not match/),
    'file.yaml:6: steps[2].emit must be a string, not a number',
    expect.stringMatching(
      /^file\.yaml:9: expect\[0\]\.status "deliverd" is not one of .*did you mean delivered/,
    ),
  ]);
});

test('unknown names in a scenario are found, with the nearest name', () => {
  expect(
    findings(`name: a
entities:
  first: { kind: fiatToCrypto }
  second: { kind: fiatToCrypto }
steps:
  - { id: one, emit: fiatToCripto/PENDING }
  - { id: two, emit: fiatToCrypto/PENDNG, of: first }
  - { id: two, emit: fiatToCrypto/PENDING }
  - { id: four, emit: KYB/CREATED }
  - id: five
    emit: KYC/KYC_NEEDED
    set:
      data.atempt: 2
expect:
  - { step: sixth, status: delivered }
`),
  ).toEqual([
    'file.yaml:6: "fiatToCripto" is not an event type; did you mean fiatToCrypto?',
    expect.stringMatching(/^file\.yaml:7: "PENDNG" is not a subType of fiatToCrypto; it has PENDING/),
    'file.yaml:8: step "two" occurs twice',
    'file.yaml:8: step "two" needs "of": one of first, second',
    'file.yaml:9: KYB does not happen to a user',
    expect.stringMatching(/^file\.yaml:13: KYC has no field "data\.atempt"; did you mean data\.attempt/),
    'file.yaml:15: there is no step "sixth"',
  ]);
});

test('a text that is not YAML, or no scenario, is refused at its line', () => {
  expect(findings('name: a\nsteps: [\n')[0]).toMatch(/^file\.yaml:\d: /);
  expect(findings('just text')).toEqual(['file.yaml:1: the scenario must be an object, not a string']);
  expect(findings('')).toEqual(['file.yaml:1: the scenario must be an object, not empty']);
});

const ILLEGAL = `name: a
entities: { tx: { kind: fiatToCrypto } }
steps:
  - { id: one, emit: fiatToCrypto/PENDING }
  - { id: two, emit: fiatToCrypto/SUCCESS }
`;

test('an illegal step is refused with the legal ones, and played with force', () => {
  expect(findings(ILLEGAL)).toEqual([
    'file.yaml:5: step "two": fiatToCrypto cannot go from PENDING to SUCCESS; ' +
      'legal: IN_PROGRESS, ON_HOLD, FAILED (--force plays it anyway)',
  ]);
  expect(findings(ILLEGAL, true)).toEqual([]);
});

test('a scenario may begin in the middle of a life', () => {
  const text = ILLEGAL.replace('kind: fiatToCrypto', 'kind: fiatToCrypto, state: CRYPTO_TRANSFER_ISSUED');
  expect(findings(text.replace('  - { id: one, emit: fiatToCrypto/PENDING }\n', ''))).toEqual([]);
});

test('an alias is checked as what it names, and one that names nothing is refused', () => {
  const text = (name: string) => `name: a
entities: { tx: &tx { kind: fiatToCrypto }, second: *${name} }
steps:
  - &step { id: one, emit: fiatToCrypto/PENDING, of: tx }
  - *step
`;
  expect(findings(text('tx'))).toEqual(['file.yaml:4: step "one" occurs twice']);
  expect(findings(text('ty'))).toEqual([expect.stringMatching(/^file\.yaml:1: Unresolved alias .*: ty$/)]);
});
