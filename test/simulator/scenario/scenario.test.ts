/**
 * A scenario file is either played as it is or refused with every finding and its line.
 */
import { expect, test } from 'vitest';
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
    expect.stringMatching(/^file\.yaml:4: steps\[0\] needs exactly one of emit, behave, .*forge$/),
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

test('steps that are no events need endpoints of the scenario and what they refer to', () => {
  const text = (steps: string, expected = '') => `name: a
endpoints: { main: { events: [KYK] } }
steps:
  - { id: one, emit: KYC/KYC_NEEDED }
${steps}${expected}`;
  expect(
    findings(
      text(
        `  - { id: two, rotate: mian }
  - { id: three, resend: two }
  - { id: four, forge: one }
  - { id: five, behave: main }
  - { id: six, disable: main, as: ok }
  - { id: seven, emit: KYC/PENDING_KYC_DATA, how: replayed, when: { main: failed } }
  - { id: eight, delete: main, when: { nine: failed } }
`,
        `expect:
  - { step: two, status: delivered }
  - { step: four, status: delivered }
  - { step: one, status: rejected }
  - { endpoint: main, status: delivered }
  - { endpoint: mine, status: active }
  - { step: one, body: { data.stat: x } }
`,
      ),
    ),
  ).toEqual([
    'file.yaml:2: "KYK" is not an event type; did you mean KYB, KYC?',
    'file.yaml:5: there is no endpoint "mian"; did you mean main?',
    expect.stringMatching(/^file\.yaml:6: there is no earlier event "two"/),
    'file.yaml:7: step "four" needs "how"',
    'file.yaml:8: step "five" needs "as"',
    'file.yaml:9: "as" has no meaning with a step without behave',
    'file.yaml:10: "failed" is not a status of an endpoint',
    'file.yaml:10: "how" has no meaning with emit',
    expect.stringMatching(/^file\.yaml:11: there is no earlier step or endpoint "nine"/),
    expect.stringMatching(/^file\.yaml:13: there is no step that sends anything: "two"/),
    'file.yaml:14: "delivered" is not a status of a forged webhook, which is accepted or rejected',
    'file.yaml:15: "rejected" is not a status of an event',
    'file.yaml:16: "delivered" is not a status of an endpoint: active, disabled, auto_disabled',
    'file.yaml:17: there is no endpoint "mine"; did you mean main?',
    expect.stringMatching(/^file\.yaml:18: KYC has no field "data\.stat"; did you mean data\.status/),
  ]);
  const without = text('  - { id: two, rotate: main }\n').replace(/^endpoints.*\n/m, '');
  expect(findings(without)).toContainEqual(expect.stringMatching(/:4: step "two" needs "endpoints"/));
});

test('a step does one thing, and an expectation is about something', () => {
  expect(
    findings(`name: a
endpoints: { main: {} }
steps:
  - { id: one, emit: KYC/KYC_NEEDED, rotate: main }
expect:
  - { status: delivered }
`),
  ).toEqual([
    expect.stringMatching(/^file\.yaml:4: steps\[0\] needs exactly one of emit, behave/),
    'file.yaml:6: expect[0] needs one of step, endpoint',
  ]);
});

test('a process refers to an account of the scenario only', () => {
  expect(
    findings(`name: a
entities:
  link: { kind: linkBankAccount }
  tx: { kind: fiatToCrypto, linkedAccount: link, ledger: link }
steps:
  - { id: one, emit: fiatToCrypto/PENDING }
`),
  ).toEqual(['file.yaml:4: "link" is not a serviceBankAccount of this scenario']);
});
