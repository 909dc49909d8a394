import { formatDuration } from '../../client/duration.ts';
import { eventToJson } from '../../services/codec/event-json.ts';
import { DeliveryWatch } from '../client/delivery-watch.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import { adviseOn } from '../commands/delivery-advice.ts';
import { endWait } from '../commands/wait-end.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import { describeExpectation, judge, type Verdict } from '../scenario/expectations.ts';
import { LiveLines } from '../scenario/live-lines.ts';
import { type PlannedStep, planActions } from '../scenario/plan.ts';
import { play } from '../scenario/player.ts';
import type { SinkOptions } from '../scenario/run-options.ts';
import type { Expectation, Scenario } from '../scenario/scenario.ts';
import type { Session } from '../session.ts';
import { openSink } from '../sinks/open-sink.ts';
import type { EventSink, Sent } from '../sinks/sinks.ts';
import { judgeOnStage } from '../stage/run-stage.ts';
import { type StageOfRun, stageOfRun } from '../stage/stage-of-run.ts';
import { Repeats } from './repeats.ts';
import type { RunRecorder, RunStep, SentStep } from './run-store.ts';

/** Steps to send now, and what is done with them. */
export interface Play {
  /** In the order in which they are sent. */
  readonly steps: readonly PlannedStep[];
  /** The scenario with the steps that are no events and the endpoints of its own, if it is one. */
  readonly scenario?: Scenario;
  readonly speed: number;
  readonly wait: { readonly ms: number; readonly isAsked: boolean };
  readonly expected: readonly Expectation[];
  /** Steps that are delivered a second time. */
  readonly repeated: ReadonlySet<string>;
  /** The intervals are to be exact: connections are opened before the first event is sent. */
  readonly isExact: boolean;
  readonly onSent: (step: PlannedStep, sent: Sent, sentAt: number) => void;
}

/** Returns whether events go to hookrail, which records their deliveries. */
export function isRecorded(sink: SinkOptions['sink']): boolean {
  return sink === 'api' || sink === 'kafka';
}

/** The time in which a delivery that is to be repeated must arrive, milliseconds. */
const REPEAT_WAIT_MS = 30_000;

/** Sends steps, shows their deliveries, and throws a failure with the exit code of what was found. */
export async function playSteps(session: Session, options: SinkOptions, request: Play): Promise<void> {
  const { output, signal } = session;
  const { wait, expected, repeated, scenario } = request;
  checkSink(options, wait.ms, expected);
  const resends = isRecorded(options.sink) && repeated.size > 0;
  const lines = new LiveLines(output, request.steps, session.clock);
  const repeats = new Repeats(session, resends ? repeated : new Set());
  const isWatched = wait.ms > 0 || resends || expected.length > 0;
  const watch = isWatched ? watchOf(session, lines, repeats) : undefined;
  const sink = await openSink(session, options);
  if (request.isExact) await sink.warmUp?.();
  const { stage, judging, close } = await stageOf(session, options, request, sink);
  let quarantined = 0;
  try {
    await play(resends ? request.steps : withRepeats(request.steps, repeated), {
      sink,
      actions: scenario && planActions(scenario),
      stage,
      speed: request.speed,
      pause: (ms) => session.pause(ms),
      signal,
      clock: session.clock,
      watch,
      // A scenario with endpoints of its own waits for its expectations itself.
      watchMs: watchMsOf(wait.ms, resends, judging ? [] : expected),
      waiting: (text) => output.waiting(text),
      onSent: (step, sent, sentAt) => {
        // On stdout the events themselves are the output.
        if (options.sink !== 'stdout') lines.sent(step, sent, sentAt);
        if (sent.status === 'quarantined') quarantined += 1;
        request.onSent(step, sent, sentAt);
        judging?.sent(step, sentAt);
      },
    });
    await repeats.finished();
    if (watch && !signal.aborted) await adviseOn(output, new MerchantApi(session.api()), watch.watched);
    if (judging && expected.length > 0) report(session, await judgeOnStage(judging, expected));
    else if (watch && expected.length > 0) report(session, judge(expected, watch.watched));
  } finally {
    await close();
  }
  mustBeAccepted(quarantined);
  if (watch && expected.length === 0) endWait(session, watch.watched, wait.isAsked);
}

/** Returns what performs the steps that are no events; only a scenario has any. */
function stageOf(
  session: Session,
  options: SinkOptions,
  { scenario, steps }: Play,
  sink: EventSink,
): Promise<StageOfRun> {
  if (scenario) return stageOfRun(session, options, scenario, steps, sink);
  return Promise.resolve({ stage: undefined, judging: undefined, close: async () => sink.close?.() });
}

/** Returns how long deliveries are followed after the last step, milliseconds. */
function watchMsOf(waitMs: number, resends: boolean, expected: readonly Expectation[]): number {
  return Math.max(waitMs, resends ? REPEAT_WAIT_MS : 0, ...expected.map(({ withinMs }) => withinMs));
}

/** Quarantined events are never delivered: a script that sent them must not go on. */
function mustBeAccepted(quarantined: number): void {
  if (quarantined === 0) return;
  const what = quarantined === 1 ? '1 event was' : `${quarantined} events were`;
  throw new CommandFailure(EXIT.expectation, `${what} put into quarantine`, [
    'event_id_conflict means: the id is known, with other content; give another --seed or --start-at',
    'schema_violation means: the content breaks a rule, such as a --start-at more than a day ahead; hookrail operator quarantine list names it',
  ]);
}

function watchOf(session: Session, lines: LiveLines, repeats: Repeats): DeliveryWatch {
  return new DeliveryWatch({
    api: new MerchantApi(session.impatientApi()),
    pause: (ms) => session.pause(ms),
    signal: session.signal,
    onNews: (news) => {
      lines.news(news);
      repeats.news(news);
    },
  });
}

/** Sinks without hookrail get the events that are to be repeated twice, one after the other. */
function withRepeats(steps: readonly PlannedStep[], repeated: ReadonlySet<string>): readonly PlannedStep[] {
  return steps.flatMap((step) => (repeated.has(step.id) ? [step, step] : [step]));
}

function checkSink(options: SinkOptions, waitMs: number, expected: readonly Expectation[]): void {
  if (isRecorded(options.sink)) return;
  const unfit = expected.length > 0 ? '--expect' : waitMs > 0 ? '--wait' : undefined;
  if (unfit) throw usage(`${unfit} needs --sink api or kafka: other sinks record no deliveries`);
}

function report({ output }: Session, verdicts: readonly Verdict[]): void {
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

/** Returns a step as the record of a run has it. */
export function runStepOf({ id, event }: PlannedStep): RunStep {
  return {
    step: id,
    type: event.type,
    subType: event.subType,
    event_uuid: event.eventId,
    entity_uuid: event.entityId,
  };
}

/** Returns what adds the steps that are sent to the record of a run. */
export function recordSent(
  recorder: RunRecorder,
  made?: SentStep['made'],
): (step: PlannedStep, sent: Sent, sentAt: number) => void {
  return (step, { status }, sentAt) =>
    recorder.sent({
      ...runStepOf(step),
      sent_at: new Date(sentAt).toISOString(),
      status,
      ...(made === undefined ? {} : { made }),
    });
}

/** Returns a line of a journey: with it `replay` sends the event again at the same intervals. */
export function journeyLine(
  name: string,
  step: PlannedStep,
  { sent, sentAt, forced }: { readonly sent: Sent; readonly sentAt: number; readonly forced: boolean },
): object {
  return {
    scenario: name,
    ...(forced ? { forced: true } : {}),
    step: step.id,
    offset_ms: step.offsetMs,
    sent_at: new Date(sentAt).toISOString(),
    status: sent.status,
    event: eventToJson(step.event),
  };
}
