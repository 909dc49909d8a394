import { appendFileSync, writeFileSync } from 'node:fs';
import type { Argv, CommandModule } from 'yargs';
import { eventToJson } from '../../services/codec/event-json.ts';
import { DeliveryWatch } from '../client/delivery-watch.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import { formatDuration } from '../duration.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import { describeExpectation, judge } from '../scenario/expectations.ts';
import { LiveLines } from '../scenario/live-lines.ts';
import { type PlannedStep, planActions, planScenario } from '../scenario/plan.ts';
import { play } from '../scenario/player.ts';
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
import type { Expectation, Scenario } from '../scenario/scenario.ts';
import { inSession, type Session, type Surroundings } from '../session.ts';
import { openSink } from '../sinks/open-sink.ts';
import type { Sent } from '../sinks/sinks.ts';
import { judgeOnStage } from '../stage/run-stage.ts';
import { stageOfRun } from '../stage/stage-of-run.ts';
import { adviseOn } from './delivery-advice.ts';
import { endWait } from './wait-end.ts';

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
        .example('$0 run offramp.happy --currency NGN --speed instant', '') as unknown as Argv<RunOptions>,
    handler: (options) => inSession(options, surroundings, (session) => run(session, options)),
  };
}

async function run(session: Session, options: RunOptions): Promise<void> {
  const { output } = session;
  const { openScenario } = await import('../scenario/open-scenario.ts');
  const scenario = openScenario(options.scenario, { force: options.force });
  const seed = options.seed ?? randomSeed();
  const steps = plan(session, options, scenario, seed);
  if (options.dryRun) {
    for (const { id, offsetMs, event } of steps) {
      const datum = { step: id, offset_ms: offsetMs, event: eventToJson(event) };
      output.item(datum, () => `${output.paint('bold', id)}  +${formatDuration(offsetMs)}\n${pretty(event)}`);
    }
    output.remark(`seed ${seed}; nothing was sent. Addresses are made up: never send funds to them.`);
    return;
  }
  const marks = options.force ? ' (forced: illegal steps are played)' : '';
  output.remark(`${scenario.name}, seed ${seed}${marks}`);
  await playPlan(session, options, scenario, steps);
}

function plan(
  session: Session,
  options: RunOptions,
  scenario: Scenario,
  seed: string,
): readonly PlannedStep[] {
  const leavesTheMachine = isRecorded(options.sink) && !options.dryRun;
  const merchantId = leavesTheMachine
    ? session.settings.merchantId()
    : (session.settings.find('merchant')?.value ?? 'sandbox');
  const { amount, currency, chain, token } = options;
  return planScenario(scenario, {
    seed,
    startAt: parseStartAt(options.startAt),
    merchantId,
    ...entityOf(options),
    overrides: { amount, currencyFiat: currency, chain, token },
    set: parseStepFields(options.set ?? []),
  });
}

async function playPlan(
  session: Session,
  options: RunOptions,
  scenario: Scenario,
  steps: readonly PlannedStep[],
): Promise<void> {
  const { output, signal } = session;
  const wait = parseWait(options.wait, output.isInteractive && isRecorded(options.sink));
  const expected = options.expect ? scenario.expect : [];
  checkSink(options, wait.ms, expected);
  const lines = new LiveLines(output, steps);
  const isWatched = wait.ms > 0 || expected.length > 0;
  const pause = (ms: number) => session.pause(ms);
  const watch = isWatched
    ? new DeliveryWatch({
        api: new MerchantApi(session.impatientApi()),
        pause,
        signal,
        onNews: (news) => lines.news(news),
      })
    : undefined;
  const record = openRecord(options, scenario);
  const sink = await openSink(session, options);
  const { stage, judging, close } = await stageOfRun(session, options, scenario, steps, sink);
  await play(steps, {
    sink,
    actions: planActions(scenario),
    stage,
    speed: parseSpeed(options.speed),
    pause,
    signal,
    watch,
    // A scenario with endpoints of its own waits for its expectations itself.
    watchMs: Math.max(wait.ms, ...(judging ? [] : expected.map(({ withinMs }) => withinMs))),
    waiting: (text) => output.waiting(text),
    onSent: (step, sent, sentAt) => {
      // On stdout the events themselves are the output.
      if (options.sink !== 'stdout') lines.sent(step, sent, sentAt);
      record?.(step, sent, sentAt);
      judging?.sent(step, sentAt);
    },
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  try {
    if (watch && !signal.aborted) await adviseOn(output, new MerchantApi(session.api()), watch.watched);
    if (judging && expected.length > 0) report(session, await judgeOnStage(judging, expected));
    else if (watch && expected.length > 0) report(session, judge(expected, watch.watched));
    else if (watch) endWait(session, watch.watched, wait.isAsked);
    else if (isRecorded(options.sink))
      output.remark('follow the deliveries with: hookrail sim deliveries list');
  } finally {
    await close();
  }
}

/** Returns whether events go to hookrail, which records their deliveries. */
function isRecorded(sink: RunOptions['sink']): boolean {
  return sink === 'api' || sink === 'kafka';
}

function checkSink(options: RunOptions, waitMs: number, expected: readonly Expectation[]): void {
  if (isRecorded(options.sink)) return;
  const unfit = expected.length > 0 ? '--expect' : waitMs > 0 ? '--wait' : undefined;
  if (unfit) throw usage(`${unfit} needs --sink api or kafka: other sinks record no deliveries`);
}

function report({ output }: Session, verdicts: ReturnType<typeof judge>): void {
  for (const { expectation, met, found } of verdicts) {
    const { step, endpoint, status, withinMs } = expectation;
    const mark = met ? output.paint('green', '✓') : output.paint('red', '✗');
    const datum = { kind: 'expectation', step, endpoint, status, within_ms: withinMs, met, found };
    const text = `${mark} expected ${describeExpectation(expectation)} within ${formatDuration(withinMs)}: ${found}`;
    output.item(datum, text);
  }
  const unmet = verdicts.filter(({ met }) => !met).length;
  if (unmet > 0) throw new CommandFailure(EXIT.expectation, `${unmet} expectation(s) not met`);
}

/** Records one line per step, with which `replay` can send it again at the same intervals. */
function openRecord(
  { record, force }: RunOptions,
  scenario: Scenario,
): ((step: PlannedStep, sent: Sent, sentAt: number) => void) | undefined {
  if (record === undefined) return undefined;
  writeFileSync(record, '');
  return (step, sent, sentAt) => {
    const line = {
      scenario: scenario.name,
      ...(force ? { forced: true } : {}),
      step: step.id,
      offset_ms: step.offsetMs,
      sent_at: new Date(sentAt).toISOString(),
      status: sent.status,
      event: eventToJson(step.event),
    };
    appendFileSync(record, `${JSON.stringify(line)}\n`);
  };
}

function pretty(event: PlannedStep['event']): string {
  return JSON.stringify(eventToJson(event), null, 2);
}
