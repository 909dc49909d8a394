import type { Argv, CommandModule } from 'yargs';
import { usage } from '../../exit.ts';
import type { World } from '../../machines/world.ts';
import {
  chooseMove,
  describeMoves,
  type PossibleMove,
  possibleMoves,
  STATUS_UPDATE,
} from '../../runs/moves.ts';
import { playSteps, recordSent } from '../../runs/play-steps.ts';
import { type Run, RunStore } from '../../runs/run-store.ts';
import { type PlannedStep, type PlanOptions, planScenario } from '../../scenario/plan.ts';
import { parseWait, SINK_OPTIONS, type SinkOptions } from '../../scenario/run-options.ts';
import { moveOf, parseScenario, worldBefore } from '../../scenario/scenario.ts';
import type { Scenario, Step } from '../../scenario/scenario-format.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';

interface StepOptions extends CommandOptions, Omit<SinkOptions, 'sink'> {
  readonly run?: string;
  readonly sink?: SinkOptions['sink'];
  readonly to?: string;
  readonly url?: string;
  readonly of?: string;
  readonly set?: string[];
  readonly force: boolean;
  readonly wait?: string | boolean;
}

/** Advances a run that is played by hand; without a run, lists those that wait. */
export function stepCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, StepOptions>, 'builder' | 'handler'> {
  const { sink, to: url, ...others } = SINK_OPTIONS;
  return {
    builder: (args: Argv) =>
      args
        .positional('run', {
          type: 'string',
          describe: 'Id of the run, or last; without it, they are listed',
        })
        .options({
          to: {
            type: 'string',
            describe: 'The state to go to: ON_HOLD, KYC/FULL_USER (default: the next step)',
          },
          of: { type: 'string', describe: 'The process that goes there, where the scenario has several' },
          set: { type: 'string', array: true, nargs: 1, describe: 'Set a field: data.status=ON_HOLD_KYC' },
          force: { type: 'boolean', default: false, describe: 'Go to a state that is not possible now' },
          wait: { type: 'string', describe: 'Follow the deliveries for at most this long: 30s' },
          sink: { choices: sink.choices, describe: 'Where the event goes (default: as the run was begun)' },
          url: { ...url, describe: 'With --sink direct: URL of the receiver' },
          ...others,
        })
        .example('$0 step last', 'sends the next event of the scenario')
        .example('$0 step last --to FAILED', 'leaves the scenario') as unknown as Argv<StepOptions>,
    handler: (options) => inSession(options, surroundings, (session) => step(session, options)),
  };
}

async function step(session: Session, options: StepOptions): Promise<void> {
  const store = new RunStore(session.settings.dataDir);
  if (options.run === undefined) return list(session, options, store);
  const run = options.run === 'last' ? lastPaused(store) : store.find(options.run);
  const journey = new HandPlayed(run);
  const { made, planned } = journey.next(options);
  const { to: _, url, ...rest } = options;
  const sink = options.sink ?? (run.sink as SinkOptions['sink']);
  const sinkOptions = { ...rest, sink, ...(url === undefined ? {} : { to: url }) };
  const isRecorded = sink === 'api' || sink === 'kafka';
  await playSteps(session, sinkOptions, {
    steps: [{ ...planned, offsetMs: 0 }],
    speed: 1,
    wait: parseWait(options.wait, session.output.isInteractive && isRecorded),
    expected: [],
    repeated: new Set(),
    isExact: false,
    onSent: recordSent(store.recorderOf(run.id), made),
  }).finally(() => sayWhatFollows(session, store, run.id));
}

function sayWhatFollows({ output }: Session, store: RunStore, id: string): void {
  const { possible, scripted } = new HandPlayed(store.find(id));
  if (possible.length === 0) output.remark(`nothing more is possible; check it: hookrail sim assert ${id}`);
  else output.remark(`next: ${scripted?.id ?? 'the scenario is over'}; possible: ${describeMoves(possible)}`);
}

function lastPaused(store: RunStore): Run {
  const run = store.all().find(({ by_hand }) => by_hand !== null);
  if (run) return run;
  throw usage('no run is played by hand', 'begin one: hookrail sim run onramp.happy --step');
}

function list({ output }: Session, options: StepOptions, store: RunStore): void {
  if (options.to !== undefined) throw usage('--to needs a run', 'hookrail sim step last --to …');
  const runs = store.all().filter(({ by_hand }) => by_hand !== null);
  const items = runs.map((run) => {
    const { possible, scripted } = new HandPlayed(run);
    return {
      run: run.id,
      scenario: run.scenario,
      seed: run.seed,
      created_at: run.created_at,
      sent: run.sent.length,
      next: scripted?.id ?? null,
      possible: possible.map(({ type, to, process }) => ({ type, to, process })),
    };
  });
  output.list(
    items,
    ({ run, scenario, sent, next }) =>
      output.row([
        output.paint('bold', run),
        scenario,
        `${sent} sent`,
        next === null ? 'over' : `next ${next}`,
      ]),
    'no run is played by hand; begin one: hookrail sim run onramp.happy --step',
  );
}

/** A run that is played by hand: the states that it has reached, and its next events. */
class HandPlayed {
  readonly #run: Run;
  readonly #scenario: Scenario;
  readonly #plan: PlanOptions;
  readonly #world: World;
  /** The steps that were sent, in the form of the scenario's. */
  readonly #made: readonly Step[];

  constructor(run: Run) {
    if (run.by_hand === null) {
      throw usage(
        `${run.id} was played to its end`,
        `play it by hand: hookrail sim run ${run.scenario} --seed ${run.seed} --step`,
      );
    }
    const { text, source, plan } = run.by_hand;
    this.#run = run;
    this.#plan = plan;
    this.#scenario = parseScenario(text, source, { force: true });
    this.#made = run.sent.flatMap(({ made }) => (made ? [{ ...made, line: 0 }] : []));
    this.#world = worldBefore(this.#scenario);
    for (const sent of this.#made) this.#world.apply(moveOf(sent));
  }

  /** The next step of the scenario: the one after the last that was sent. */
  get scripted(): Step | undefined {
    const { steps } = this.#scenario;
    const sent = new Set(this.#made.map(({ id }) => id));
    const last = steps.findLastIndex(({ id }) => sent.has(id));
    return steps[last + 1];
  }

  get possible(): readonly PossibleMove[] {
    return possibleMoves(this.#world, this.#scenario);
  }

  /** Makes the next event: the scenario's, or that of the state that is asked for. */
  next(options: Pick<StepOptions, 'to' | 'of' | 'set' | 'force'>): {
    readonly made: Omit<Step, 'line'>;
    readonly planned: PlannedStep;
  } {
    const { line: _, ...step } =
      options.to === undefined ? this.#scriptedNext(options) : this.#named(options);
    const made = { ...step, set: { ...step.set, ...parseFields(options.set) } };
    const steps = [...this.#made, { ...made, line: 0 }];
    const ids = steps.map(({ id }) => id);
    // What was set for steps that are not sent yet is for later.
    const set = (this.#plan.set ?? []).filter((field) => ids.includes(field.step));
    const planned = planScenario({ ...this.#scenario, steps }, { ...this.#plan, set }).at(-1);
    if (planned === undefined) throw new Error('a plan has its steps');
    return { made, planned };
  }

  #scriptedNext({ force, of }: Pick<StepOptions, 'force' | 'of'>): Step {
    if (of !== undefined) throw usage('--of needs --to, the state to go to');
    const possible = describeMoves(this.possible);
    const step = this.scripted;
    if (step === undefined) {
      throw usage(
        `the scenario is over after ${this.#run.sent.length} events; possible now: ${possible}`,
        `hookrail sim step ${this.#run.id} --to …`,
      );
    }
    const refusal = this.#world.refusal(moveOf(step));
    if (refusal && !force) {
      throw usage(
        `the next step, "${step.id}", is not possible any more: ${refusal.reason}`,
        `possible now: ${possible}`,
        `hookrail sim step ${this.#run.id} --to …`,
      );
    }
    return step;
  }

  /** Returns the scenario's own step to that state where it has one that is not sent yet, else a new one. */
  #named({ to = '', of, force }: Pick<StepOptions, 'to' | 'of' | 'force'>): Step {
    const move = chooseMove(this.#world, this.#scenario, { to, of }, force);
    const sent = this.#made.map(({ id }) => id);
    const rest = this.#scenario.steps.filter(({ id }) => !sent.includes(id));
    const own = rest.find(
      (step) =>
        step.type === move.type &&
        step.process === move.process &&
        step.subType === move.subType &&
        (move.subType !== STATUS_UPDATE || step.set['data.status'] === move.status),
    );
    if (own) return own;
    return {
      id: `by-hand-${sent.length + 1}`,
      afterMs: AFTER_MS,
      type: move.type,
      subType: move.subType,
      process: move.process,
      set: move.status === undefined ? {} : { 'data.status': move.status },
      unset: [],
      line: 0,
      lateMs: 0,
      order: 0,
    };
  }
}

/** The time before a step that the scenario does not have, on the scenario's clock. */
const AFTER_MS = 1000;

function parseFields(texts: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const match = /^(data\.[^=]+)=(.*)$/s.exec(text);
      if (!match) throw usage(`--set "${text}" is not data.field=value`);
      return [match[1] ?? '', match[2] ?? ''];
    }),
  );
}
