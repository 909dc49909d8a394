import { entityKindsOf } from '../../services/domain/catalog/catalog.ts';
import type { DomainEvent, EntityKind, EventType } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import { didYouMean } from '../../services/messages/did-you-mean.ts';
import { SampleChoiceError } from '../../services/samples/choice-error.ts';
import { sampleEvent, sampleId } from '../../services/samples/sample.ts';
import type { SampleChoices } from '../../services/samples/sample-thing.ts';
import { usage } from '../exit.ts';
import { withField, withoutField } from './event-paths.ts';
import type { Action, Condition, ProcessChoices, Scenario, Step } from './scenario-format.ts';

/** The choices of `run` about a scenario. */
export interface PlanOptions {
  /** Everything invented is derived from it. */
  readonly seed: string;
  /** When the first step happens, milliseconds since the epoch. */
  readonly startAt: number;
  readonly merchantId: string;
  /** Default: derived from the seed. */
  readonly entityId?: string | undefined;
  readonly entityKind?: EntityKind | undefined;
  readonly overrides?: Overrides | undefined;
  /** Fields of single steps. */
  readonly set?: readonly StepField[] | undefined;
}

/**
 * Choices for every transaction of the scenario. All but the amount apply to its ledgers and wallets too; the country
 * applies to every step.
 */
export interface Overrides {
  readonly amount?: string | undefined;
  readonly currencyFiat?: string | undefined;
  readonly chain?: string | undefined;
  readonly token?: string | undefined;
  readonly country?: string | undefined;
}

export interface StepField {
  readonly step: string;
  /** "data.amountFiat" */
  readonly path: string;
  readonly value: string;
}

/** A place in the order of a run. */
interface Place {
  readonly id: string;
  /** Milliseconds since the first step, on the scenario's clock. */
  readonly offsetMs: number;
  /** Position among all steps of the scenario, where several have the same time. Without it, the first. */
  readonly order?: number;
  /** The condition that must hold first. */
  readonly when?: Condition;
}

export interface PlannedStep extends Place {
  readonly event: DomainEvent;
  /** The step of the scenario, where `id` names one of several copies. */
  readonly of?: string;
  /** Milliseconds by which it is sent later than it happened. */
  readonly lateMs?: number;
}

export interface PlannedAction extends Place {
  readonly action: Action;
}

/**
 * Returns the events of a scenario. Pure: the same scenario and options give the same ids and bytes, on every machine.
 * Times are the scenario's own, whatever the speed at which it is played. Throws a usage failure for impossible
 * choices.
 */
export function planScenario(scenario: Scenario, options: PlanOptions): readonly PlannedStep[] {
  const kind = options.entityKind ?? scenario.entityKind;
  for (const { type, id } of scenario.steps) {
    if (entityKindsOf(type).includes(kind)) continue;
    throw usage(`${scenario.name} cannot happen to a ${kind.toLowerCase()}: step "${id}" is ${type}`);
  }
  checkSteps(scenario, options.set ?? []);
  if (scenario.copies === 1) return planCopy(scenario, options, kind);
  if (options.entityId !== undefined) {
    throw usage(`${scenario.name} happens to ${scenario.copies} entities; --user and --corporate name one`);
  }
  const copies = Array.from({ length: scenario.copies }, (_, i) => {
    const steps = planCopy(scenario, { ...options, seed: `${options.seed}/${i + 1}` }, kind);
    return steps.map((step) => ({ ...step, id: `${step.id}.${i + 1}`, of: step.id }));
  });
  return copies.flat().sort((a, b) => a.offsetMs - b.offsetMs);
}

/**
 * Returns the time of the first step of a scenario that is played from now on, such that no event is sent before it
 * happened. A scenario that is played faster than real time began in the past.
 */
export function startOfPlay({ steps }: Pick<Scenario, 'steps'>, now: number, speed: number): number {
  const spanMs = steps.reduce((sum, { afterMs }) => sum + afterMs, 0);
  return now - Math.ceil(spanMs * Math.max(0, 1 - 1 / speed));
}

/** Plans a scenario that is played at a speed from now on. */
export function planFromNow(
  scenario: Scenario,
  options: Omit<PlanOptions, 'startAt'>,
  { now, speed }: { readonly now: number; readonly speed: number },
): readonly PlannedStep[] {
  return planScenario(scenario, { ...options, startAt: startOfPlay(scenario, now, speed) });
}

/** Returns the steps of a scenario that are no events, at the times of the same clock. */
export function planActions(scenario: Scenario): readonly PlannedAction[] {
  return scenario.actions.map(({ atMs, ...action }) => ({ ...action, offsetMs: atMs }));
}

function planCopy(scenario: Scenario, options: PlanOptions, kind: EntityKind): readonly PlannedStep[] {
  const entityId = options.entityId ?? madeUpEntity(options.seed, kind);
  let offsetMs = 0;
  return scenario.steps.map((step) => {
    offsetMs += step.afterMs;
    const event = planStep(scenario, step, options, { entityId, kind, at: options.startAt + offsetMs });
    const { id, order, when, lateMs } = step;
    return {
      id,
      offsetMs,
      event,
      order,
      ...(when === undefined ? {} : { when }),
      ...(lateMs === 0 ? {} : { lateMs }),
    };
  });
}

/** Returns the user or corporate of a seed: one seed is one person in all scenarios. */
export function madeUpEntity(seed: string, kind: EntityKind): string {
  return uuidV5('simulator-entity', seed, kind);
}

function planStep(
  scenario: Scenario,
  step: Step,
  options: PlanOptions,
  who: { readonly entityId: string; readonly kind: EntityKind; readonly at: number },
): DomainEvent {
  const { seed, startAt, merchantId } = options;
  const given = { ...step.set, ...fieldsOfStep(options.set ?? [], step.id) };
  // Other fields follow from these, so the sampler has to know them.
  const { 'data.status': status, 'data.matchResult': matchResult, ...set } = given;
  const sampled = orUsage(`step "${step.id}"`, () =>
    sampleEvent({
      type: step.type,
      subType: step.subType,
      merchantId,
      entityId: who.entityId,
      entityKind: who.kind,
      seed,
      occurredAt: who.at,
      // Includes the start, so that a second run with the same seed delivers again, and the choices, so that two
      // variants that start in one millisecond are not taken for the same event.
      eventId: uuidV5(
        'simulator-event',
        scenario.name,
        seed,
        String(startAt),
        merchantId,
        who.entityId,
        step.id,
        ...choiceParts(options),
      ),
      simulated: true,
      subject: `${seed}/${step.process}`,
      choices: {
        ...choicesOf(scenario, step, options.overrides ?? {}),
        ...accountsOf(scenario, step, who.entityId, seed),
        ...(status === undefined ? {} : { status: String(status) }),
        ...(matchResult === undefined ? {} : { matchResult: String(matchResult) }),
      },
    }),
  );
  let { data } = sampled;
  for (const [path, value] of Object.entries(set)) data = withField(step.type, data, path, value);
  for (const path of step.unset) data = withoutField(step.type, data, path);
  return { ...sampled, data };
}

/** Types whose sample takes the amount from another type's process: a name mismatch has the amount of its on-ramp. */
const TAKES_AMOUNT_FIAT: readonly EventType[] = ['fiatToCrypto', 'senderNameMismatch'];
const TRANSACTIONS: readonly EventType[] = ['fiatToCrypto', 'cryptoToFiat'];

function choicesOf(scenario: Scenario, { process: name, type }: Step, overrides: Overrides): SampleChoices {
  const process: ProcessChoices | undefined = scenario.processes[name];
  const isTransaction = process !== undefined && TRANSACTIONS.includes(process.kind);
  // The ledger and the wallet of a journey are those of its transactions.
  const { amount: _, ...shared } = overrides;
  const chosen: Overrides = isTransaction ? overrides : process === undefined ? {} : shared;
  const amount = TAKES_AMOUNT_FIAT.includes(type) ? process?.amountFiat : process?.amountCrypto;
  const currency = chosen.currencyFiat ?? process?.currencyFiat;
  const choices = {
    amount: chosen.amount ?? amount,
    currencyFiat: currency,
    chain: chosen.chain ?? process?.chain,
    // A token of the file may not exist on another chain; the chain's usual one does.
    token: chosen.token ?? (chosen.chain === undefined ? process?.token : undefined),
    // Likewise a country need not have another currency's banks.
    country: overrides.country ?? (chosen.currencyFiat === undefined ? scenario.country : undefined),
    screens: type === 'AML' && isTransaction ? ('TRANSACTION' as const) : undefined,
  };
  return Object.fromEntries(Object.entries(choices).filter(([, value]) => value !== undefined));
}

/** Returns the accounts of other processes that a transaction uses. */
function accountsOf(scenario: Scenario, { process }: Step, entityId: string, seed: string): SampleChoices {
  const { linkedAccount, ledger } = scenario.processes[process] ?? {};
  const idOf = (name: string, what: 'linked-account' | 'ledger') =>
    sampleId(entityId, `${seed}/${name}`, what);
  return {
    ...(linkedAccount === undefined ? {} : { linkedBankAccountUuid: idOf(linkedAccount, 'linked-account') }),
    ...(ledger === undefined ? {} : { internalBankAccountId: idOf(ledger, 'ledger') }),
  };
}

/** Returns the choices that change the content of a run's events, sorted; empty without any. */
function choiceParts({ overrides = {}, set = [] }: PlanOptions): readonly string[] {
  const chosen = Object.entries(overrides).filter(([, value]) => value !== undefined);
  const fields = set.map(({ step, path, value }) => `${step}.${path}=${value}`);
  return [...chosen.map(([name, value]) => `${name}=${value}`), ...fields].sort();
}

function fieldsOfStep(set: readonly StepField[], step: string): Record<string, string> {
  return Object.fromEntries(
    set.filter((field) => field.step === step).map(({ path, value }) => [path, value]),
  );
}

function checkSteps(scenario: Scenario, set: readonly StepField[]): void {
  const ids = scenario.steps.map(({ id }) => id);
  for (const { step } of set) {
    if (!ids.includes(step)) {
      throw usage(`there is no step "${step}"${didYouMean(step, ids)}`, `the steps are ${ids.join(', ')}`);
    }
  }
}

/** Converts errors of the sampler, which names the possible choices, to usage failures. */
export function orUsage<Value>(what: string, make: () => Value): Value {
  try {
    return make();
  } catch (error) {
    if (error instanceof SampleChoiceError) throw usage(`${what}: ${error.message}`);
    throw error;
  }
}
