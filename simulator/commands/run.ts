import { appendFileSync, writeFileSync } from 'node:fs';
import type { Argv, CommandModule } from 'yargs';
import { formatDuration } from '../../client/duration.ts';
import { eventToJson } from '../../services/codec/event-json.ts';
import { errorLine } from '../../services/messages/error-message.ts';
import { usage } from '../exit.ts';
import { isRecorded, journeyLine, playSteps, recordSent, runStepOf } from '../runs/play-steps.ts';
import { RunStore } from '../runs/run-store.ts';
import { type FieldSet, remarkIncoherent } from '../scenario/coherent-fields.ts';
import { readScenario } from '../scenario/library.ts';
import {
  type PlannedStep,
  type PlanOptions,
  planScenario,
  type StepField,
  startOfPlay,
} from '../scenario/plan.ts';
import {
  entityOf,
  parseSpeed,
  parseStartAt,
  parseStepFields,
  parseWait,
  RUN_OPTIONS,
  type RunOptions,
  randomSeed,
} from '../scenario/run-options.ts';
import type { Scenario } from '../scenario/scenario.ts';
import {
  fromFirst,
  parseShare,
  parseStepNames,
  parseWindow,
  repeatedSteps,
  selectSteps,
  shuffleSteps,
} from '../scenario/schedule.ts';
import { inSession, type Session, type Surroundings } from '../session.ts';
import type { Sent } from '../sinks/sinks.ts';

/** Plays a scenario: sends its events at their times and shows their deliveries. */
export function runCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, RunOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args
        .positional('scenario', { type: 'string', demandOption: true })
        .options(RUN_OPTIONS)
        .example('$0 run onramp.happy --seed 42', 'the same ids and amounts every time')
        .example('$0 run offramp.happy --currency NGN --speed instant', '')
        .example('$0 run onramp.happy --shuffle 10s --duplicates 0.3', 'as a bad day delivers it')
        .example('$0 run onramp.happy --step', 'by hand: then step last') as unknown as Argv<RunOptions>,
    handler: (options) => inSession(options, surroundings, (session) => run(session, options)),
  };
}

async function run(session: Session, options: RunOptions): Promise<void> {
  const { parseScenario } = await import('../scenario/scenario.ts');
  const { text, source } = readScenario(options.scenario);
  const scenario = parseScenario(text, source, { force: options.force });
  const plan = planOptions(session, options, scenario);
  if (options.step) return keepForStep(session, options, scenario, { text, source, plan });
  const selection = { skip: parseStepNames(options.skip), only: parseStepNames(options.only) };
  const selected = selectSteps(scenario, selection, options.force);
  const planned = planScenario(selected, plan);
  remarkIncoherent(session.output, fieldsSet(selected, plan.set ?? []));
  const shuffled = shuffleSteps(planned, parseWindow(options.shuffle), plan.seed);
  // Actions have times of their own, which the events keep their distance to.
  const steps = selected.actions.length > 0 ? shuffled : fromFirst(shuffled);
  if (options.dryRun) {
    show(session, options, steps, plan.seed);
    return;
  }
  await playScenario(session, options, selected, { steps, plan });
}

function fieldsSet({ steps }: Scenario, set: readonly StepField[]): readonly FieldSet[] {
  return set.flatMap(({ step, path, value }) =>
    steps.filter(({ id }) => id === step).map(({ type }) => ({ type, path, value })),
  );
}

function show({ output }: Session, options: RunOptions, steps: readonly PlannedStep[], seed: string): void {
  const repeated = repeatedSteps(steps, parseShare('duplicates', options.duplicates), seed);
  for (const { id, offsetMs, event } of steps) {
    const again = repeated.has(id) ? { delivered_twice: true } : {};
    const datum = { step: id, offset_ms: offsetMs, ...again, event: eventToJson(event) };
    const note = repeated.has(id) ? '  delivered twice' : '';
    const json = JSON.stringify(eventToJson(event), null, 2);
    output.item(datum, () => `${output.paint('bold', id)}  +${formatDuration(offsetMs)}${note}\n${json}`);
  }
  output.remark(`seed ${seed}; nothing was sent. Addresses are made up: never send funds to them.`);
}

function planOptions(session: Session, options: RunOptions, scenario: Scenario): PlanOptions {
  const leavesTheMachine = isRecorded(options.sink) && !options.dryRun;
  const merchantId = leavesTheMachine
    ? session.settings.merchantId()
    : (session.settings.find('merchant')?.value ?? 'sandbox');
  const { amount, currency, chain, token, country } = options;
  // By hand, a step can come at any time.
  const speed = options.step ? Number.POSITIVE_INFINITY : parseSpeed(options.speed);
  return {
    seed: options.seed ?? randomSeed(),
    startAt: parseStartAt(options.startAt) ?? startOfPlay(scenario, Date.now(), speed),
    merchantId,
    ...entityOf(options),
    overrides: { amount, currencyFiat: currency, chain, token, country },
    set: parseStepFields(options.set ?? []),
  };
}

async function playScenario(
  session: Session,
  options: RunOptions,
  scenario: Scenario,
  { steps, plan }: { readonly steps: readonly PlannedStep[]; readonly plan: PlanOptions },
): Promise<void> {
  const { output } = session;
  const { sink, force: forced } = options;
  const repeated = repeatedSteps(steps, parseShare('duplicates', options.duplicates), plan.seed);
  const expected = options.expect ? scenario.expect : [];
  if (options.expect && expected.length === 0) {
    throw usage(`--expect: ${scenario.name} expects nothing of the steps that are played`);
  }
  const wait = parseWait(options.wait, output.isInteractive && isRecorded(sink));
  const speed = parseSpeed(options.speed);
  const writeLine = openRecord(options, scenario);
  // Endpoints of the scenario's own are gone when the run has ended: `assert` would find nothing.
  const isKept = isRecorded(sink) && Object.keys(scenario.endpoints).length === 0;
  const recorder = isKept
    ? new RunStore(session.settings.dataDir).begin({
        scenario: scenario.name,
        seed: plan.seed,
        created_at: new Date().toISOString(),
        sink,
        forced,
        expect: scenario.expect,
        planned: steps.map(runStepOf),
        by_hand: null,
      })
    : undefined;
  sayWhatIsPlayed(session, options, scenario, { seed: plan.seed, run: recorder?.id });
  const record = recorder && recordSent(recorder);
  const onSent = (step: PlannedStep, sent: Sent, sentAt: number) => {
    record?.(step, sent, sentAt);
    writeLine?.(step, sent, sentAt);
  };
  await playSteps(session, options, {
    ...{ steps, scenario, speed, wait, expected, repeated, isExact: false, onSent },
  });
  if (recorder && wait.ms === 0 && expected.length === 0) {
    output.remark(`follow the deliveries with: hookrail sim assert ${recorder.id}`);
  }
}

function sayWhatIsPlayed(
  { output }: Session,
  options: RunOptions,
  scenario: Scenario,
  { seed, run }: { readonly seed: string; readonly run: string | undefined },
): void {
  const forced = options.force ? ' (forced: illegal steps are played)' : '';
  const told = `${scenario.name}, seed ${seed}${run === undefined ? '' : `, ${run}`}${forced}`;
  // With a sink that is not hookrail, the events are the output.
  if (run === undefined) output.remark(told);
  else output.item({ kind: 'run', run, scenario: scenario.name, seed }, told);
}

/** Options that mean nothing to a run whose steps are sent one by one, by hand. */
const NOT_BY_HAND = ['skip', 'only', 'shuffle', 'duplicates', 'expect', 'record', 'dryRun', 'wait'] as const;

/** Plays nothing, and keeps the run for `step`. */
function keepForStep(
  session: Session,
  options: RunOptions,
  scenario: Scenario,
  { text, source, plan }: { readonly text: string; readonly source: string; readonly plan: PlanOptions },
): void {
  const unfit = NOT_BY_HAND.find((name) => options[name] !== undefined && options[name] !== false);
  if (unfit !== undefined) {
    const option = unfit === 'dryRun' ? 'dry-run' : unfit;
    throw usage(`--step and --${option} cannot be combined: its steps are sent one by one, by hand`);
  }
  if (scenario.actions.length > 0 || Object.keys(scenario.endpoints).length > 0) {
    throw usage(
      `--step: ${scenario.name} has steps that are no events, or endpoints of its own`,
      'play it without --step',
    );
  }
  // Impossible choices are refused now, not at the step that meets them.
  planScenario(scenario, plan);
  const { id } = new RunStore(session.settings.dataDir).begin({
    scenario: scenario.name,
    seed: plan.seed,
    created_at: new Date().toISOString(),
    sink: options.sink,
    forced: options.force,
    expect: scenario.expect,
    planned: [],
    by_hand: { text, source, plan },
  });
  const datum = { kind: 'run', run: id, scenario: scenario.name, seed: plan.seed, paused: true };
  session.output.result(datum, `${scenario.name}, seed ${plan.seed}, ${id}: nothing is sent yet`);
  session.output.remark(`send the next event: hookrail sim step ${id}`);
}

/** Writes one line per step, with which `replay` can send it again at the same intervals. */
function openRecord(
  { record, force }: RunOptions,
  scenario: Scenario,
): ((step: PlannedStep, sent: Sent, sentAt: number) => void) | undefined {
  if (record === undefined) return undefined;
  try {
    writeFileSync(record, '');
  } catch (error) {
    throw usage(`--record: ${record} cannot be written: ${errorLine(error)}`);
  }
  return (step, sent, sentAt) => {
    const line = journeyLine(scenario.name, step, { sent, sentAt, forced: force });
    appendFileSync(record, `${JSON.stringify(line)}\n`);
  };
}
