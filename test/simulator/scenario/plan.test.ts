/**
 * A scenario with a seed and a start gives the same ids and the same body bytes, for ever: golden files hold them.
 * A change here changes what developers have recorded; change the files only on purpose (vitest -u).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEventJson, eventToJson } from '../../../services/codec/events.ts';
import { API_VERSION_DEFAULT, API_VERSIONS, type ApiVersion } from '../../../services/domain/endpoint.ts';
import { renderBody } from '../../../services/domain/versions/render.ts';
import { CommandFailure } from '../../../simulator/exit.ts';
import { scenarioNames } from '../../../simulator/scenario/library.ts';
import { openScenario } from '../../../simulator/scenario/open-scenario.ts';
import {
  type PlannedStep,
  type PlanOptions,
  planActions,
  planScenario,
  startOfPlay,
} from '../../../simulator/scenario/plan.ts';
import { timeline } from '../../../simulator/scenario/player.ts';
import { GOLDEN_NAMES } from '../support/golden.ts';

const START = Date.parse('2025-01-31T12:00:00Z');
const OPTIONS: PlanOptions = { seed: '42', startAt: START, merchantId: 'merchant-1' };

function plan(name: string, options: Partial<PlanOptions> = {}): readonly PlannedStep[] {
  return planScenario(openScenario(name, { force: false }), { ...OPTIONS, ...options });
}

function bodyOf({ event }: PlannedStep, version: ApiVersion = API_VERSION_DEFAULT): string {
  const rendered = renderBody(event, version, { senderAccountDetails: true });
  if (rendered.kind === 'skipped') return rendered.reason;
  if (rendered.kind !== 'rendered') throw new Error(JSON.stringify(rendered));
  return Buffer.from(rendered.body).toString('utf8');
}

test.each([0.5, 1, 20, 60, Number.POSITIVE_INFINITY])(
  'no event of any scenario is sent before it happened at speed %d, and the last one happened when it is sent',
  (speed) => {
    for (const name of scenarioNames()) {
      const startAt = startOfPlay(openScenario(name, { force: false }), START, speed);
      const steps = plan(name, { startAt });
      const early = steps.map(({ event, offsetMs }) => event.occurredAt - (START + offsetMs / speed));
      for (const ms of early) expect(ms).toBeLessThanOrEqual(0);
      if (speed >= 1) expect(early.at(-1)).toBeGreaterThan(-2);
    }
  },
);

test.each(GOLDEN_NAMES)('the plan of %s is the same to the byte, in both API versions', async (name) => {
  for (const version of API_VERSIONS) {
    const lines = plan(name).map(
      (step) => `${step.id} +${step.offsetMs} ${step.event.eventId} ${bodyOf(step, version)}`,
    );
    const file = version === API_VERSION_DEFAULT ? name : `${name}-${version}`;
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`./golden/${file}.txt`);
  }
});

test.each(scenarioNames())('every event of %s is one that producers may send', (name) => {
  for (const { event } of plan(name)) {
    expect(decodeEventJson(JSON.parse(JSON.stringify(eventToJson(event))))).toEqual({ ok: true, event });
    expect(event.simulated).toBe(true);
  }
});

test('event ids depend on seed, start, merchant, entity and choices, and on nothing else', () => {
  const ids = (options: Partial<PlanOptions>) =>
    plan('onramp.happy', options).map(({ event }) => event.eventId);
  const uuid = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
  const runs = [
    {},
    { seed: '43' },
    { startAt: START + 1 },
    { merchantId: 'm2' },
    { entityId: uuid },
    { overrides: { chain: 'polygon' } },
    { overrides: { chain: 'polygon', amount: '7' } },
    { set: [{ step: 'received', path: 'data.amountFiat', value: '7' }] },
  ].map(ids);
  expect(ids({ overrides: { chain: undefined }, set: [] })).toEqual(runs[0]);
  expect(ids({ overrides: { amount: '7', chain: 'polygon' } })).toEqual(runs[6]);
  expect(new Set(runs.flat()).size).toBe(runs.length * 4);
});

test('a second run with the same seed has the same bodies under new ids', () => {
  const again = plan('onramp.happy', { startAt: START + 60_000 });
  const bodies = (steps: readonly PlannedStep[]) => steps.map((step) => bodyOf(step));
  expect(bodies(again)).toEqual(bodies(plan('onramp.happy')));
});

test('one transaction keeps its ids, amounts and addresses through its steps', () => {
  const shared = (name: string, fields: readonly string[]) => {
    const steps = plan(name).filter(({ event }) => event.type !== 'KYC');
    for (const field of fields) {
      const values = steps.map(({ event }) => event.data[field]).filter((value) => value !== undefined);
      expect(new Set(values).size, `${name} ${field}`).toBe(1);
    }
  };
  shared('onramp.happy', [
    'transactionUuid',
    'amountFiat',
    'amountCrypto',
    'walletAddress',
    'transactionHash',
  ]);
  shared('onramp.hold-kyc-resume', ['transactionUuid', 'amountFiat', 'walletAddress']);
  shared('offramp.happy', [
    'transactionUuid',
    'amountCrypto',
    'amountFiat',
    'transactionHash',
    'sendingAddress',
  ]);
});

test.each(['EUR', 'GBP', 'USD', 'NGN', 'KES'])('the plan of offramp.happy pays out %s', (currencyFiat) => {
  const steps = plan('offramp.happy', { overrides: { currencyFiat } });
  const done = JSON.parse(bodyOf(steps.at(-1) as PlannedStep));
  expect(done.data.currencyFiat).toBe(currencyFiat);
  expect(done.data.beneficiaryDetails.accountDetails.currency).toBe(currencyFiat);
});

test('any seed gives events that can be sent, in the order of their times', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...scenarioNames()), (seed, name) => {
      const steps = plan(name, { seed });
      const times = steps.map(({ event }) => event.occurredAt);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      for (const step of steps) expect(() => bodyOf(step)).not.toThrow();
    }),
    { numRuns: 100 },
  );
});

test('options of the command line apply to the whole transaction or to one step', () => {
  const steps = plan('onramp.happy', {
    overrides: { amount: '1000', chain: 'tron', currencyFiat: 'GBP' },
    set: [{ step: 'done', path: 'data.fees', value: '0.01' }],
  });
  expect(
    steps.map(({ event }) => [event.data.amountFiat, event.data.chain, event.data.currencyFiat]),
  ).toEqual(Array(4).fill(['1000', 'tron', 'GBP']));
  expect(steps.map(({ event }) => event.data.fees)).toEqual([
    undefined,
    undefined,
    expect.anything(),
    '0.01',
  ]);
  expect(steps[3]?.event.data.walletAddress).toMatch(/^T/);
});

test.each<[string, Partial<PlanOptions>, RegExp]>([
  ['an unknown chain', { overrides: { chain: 'polygn' } }, /chain "polygn" is not one of/],
  ['an amount that is not a number', { overrides: { amount: 'much' } }, /amount "much"/],
  [
    'an unknown step',
    { set: [{ step: 'dne', path: 'data.fees', value: '1' }] },
    /no step "dne"; did you mean done/,
  ],
  ['an unknown field', { set: [{ step: 'done', path: 'data.fee', value: '1' }] }, /did you mean data\.fees/],
  ['an unknown status', { set: [{ step: 'done', path: 'data.status', value: 'X' }] }, /status/],
])('a plan with %s is refused by name', (_, options, message) => {
  expect(() => plan('onramp.happy', options)).toThrow(CommandFailure);
  expect(() => plan('onramp.happy', options)).toThrow(message);
});

test('a scenario that happens only to users cannot be played for a corporate', () => {
  expect(() => plan('kyc.happy', { entityKind: 'CORPORATE' })).toThrow(/cannot happen to a corporate/);
});

test('each copy of a scenario happens to an entity of its own, at the same times', () => {
  const steps = plan('load.mix');
  const first = steps.filter(({ of }) => of === 'verified');
  expect(new Set(first.map(({ event }) => event.entityId)).size).toBe(20);
  expect(new Set(first.map(({ offsetMs }) => offsetMs))).toEqual(new Set([0]));
  expect(new Set(steps.map(({ event }) => event.eventId)).size).toBe(200);
  expect(steps.map(({ offsetMs }) => offsetMs)).toEqual(
    steps.map(({ offsetMs }) => offsetMs).sort((a, b) => a - b),
  );
  const one = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
  expect(() => plan('load.mix', { entityId: one })).toThrow(/happens to 20 entities/);
});

test('a late event is sent after those that overtake it, and keeps the time when it happened', () => {
  const steps = plan('chaos.out-of-order');
  const order = timeline(steps, []).map(({ id }) => id);
  expect(order).toEqual(['done', 'created', 'issued', 'received']);
  expect(steps.map(({ id }) => id)).toEqual(['created', 'received', 'issued', 'done']);
  const times = steps.map(({ event }) => event.occurredAt);
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

test('steps that are no events keep their place among those of the same time', () => {
  const scenario = openScenario('rotate.mid-flight', { force: false });
  const order = timeline(planScenario(scenario, OPTIONS), planActions(scenario)).map(({ id }) => id);
  expect(order).toEqual(['paid', 'rotated', 'repaired', 'after']);
});

test('a currency or chain of the command line is that of the ledger and the wallet too', () => {
  const steps = plan('journey.individual', { overrides: { currencyFiat: 'NGN', chain: 'tron' } });
  const of = (id: string) => steps.find((step) => step.id === id)?.event.data;
  expect(of('ledger-active')).toMatchObject({ currency: 'NGN', bank_country: 'NG' });
  expect(of('wallet')).toMatchObject({ chain: 'tron' });
  expect(of('buy-done')).toMatchObject({ currencyFiat: 'NGN', chain: 'tron' });
});
