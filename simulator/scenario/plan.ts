import { entityKindsOf } from '../../services/domain/catalog/catalog.ts';
import type { DomainEvent, EntityKind, EventType } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import { didYouMean } from '../../services/messages/did-you-mean.ts';
import { SampleChoiceError } from '../../services/samples/choice-error.ts';
import { sampleEvent } from '../../services/samples/sample.ts';
import type { SampleChoices } from '../../services/samples/sample-thing.ts';
import { usage } from '../exit.ts';
import { withField, withoutField } from './event-paths.ts';
import type { ProcessChoices, Scenario, Step } from './scenario.ts';

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

/** Choices for every transaction of the scenario. */
export interface Overrides {
  readonly amount?: string | undefined;
  readonly currencyFiat?: string | undefined;
  readonly chain?: string | undefined;
  readonly token?: string | undefined;
}

export interface StepField {
  readonly step: string;
  /** "data.amountFiat" */
  readonly path: string;
  readonly value: string;
}

export interface PlannedStep {
  readonly id: string;
  /** Milliseconds since the first step, on the scenario's clock. */
  readonly offsetMs: number;
  readonly event: DomainEvent;
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
  const entityId = options.entityId ?? madeUpEntity(options.seed, kind);
  let offsetMs = 0;
  return scenario.steps.map((step) => {
    offsetMs += step.afterMs;
    const event = planStep(scenario, step, options, { entityId, kind, at: options.startAt + offsetMs });
    return { id: step.id, offsetMs, event };
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
  const { 'data.status': status, ...set } = { ...step.set, ...fieldsOfStep(options.set ?? [], step.id) };
  const process = scenario.processes[step.process];
  const sampled = orUsage(`step "${step.id}"`, () =>
    sampleEvent({
      type: step.type,
      subType: step.subType,
      merchantId,
      entityId: who.entityId,
      entityKind: who.kind,
      seed,
      occurredAt: who.at,
      // Includes the start, so that a second run with the same seed delivers again.
      eventId: uuidV5(
        'simulator-event',
        scenario.name,
        seed,
        String(startAt),
        merchantId,
        who.entityId,
        step.id,
      ),
      simulated: true,
      subject: `${seed}/${step.process}`,
      choices: choicesOf(scenario, process, step.type, options.overrides ?? {}, status),
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

function choicesOf(
  scenario: Scenario,
  process: ProcessChoices | undefined,
  type: EventType,
  overrides: Overrides,
  status: unknown,
): SampleChoices {
  const isTransaction = process !== undefined && TRANSACTIONS.includes(process.kind);
  const chosen = isTransaction ? overrides : {};
  const amount = TAKES_AMOUNT_FIAT.includes(type) ? process?.amountFiat : process?.amountCrypto;
  const currency = chosen.currencyFiat ?? process?.currencyFiat;
  const choices = {
    amount: chosen.amount ?? amount,
    currencyFiat: currency,
    chain: chosen.chain ?? process?.chain,
    // A token of the file may not exist on another chain; the chain's usual one does.
    token: chosen.token ?? (chosen.chain === undefined ? process?.token : undefined),
    // Likewise a country need not have another currency's banks.
    country: chosen.currencyFiat === undefined ? scenario.country : undefined,
    status: status === undefined ? undefined : String(status),
    screens: type === 'AML' && isTransaction ? ('TRANSACTION' as const) : undefined,
  };
  return Object.fromEntries(Object.entries(choices).filter(([, value]) => value !== undefined));
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
