import type { Verdict } from '../scenario/expectations.ts';
import type { PlannedAction, PlannedStep } from '../scenario/plan.ts';
import type { Stage } from '../scenario/player.ts';
import type { Expectation, Scenario } from '../scenario/scenario-format.ts';
import type { Session } from '../session.ts';
import { answerOf, type DirectTarget, ownRequest } from '../sinks/direct.ts';
import type { EventSink } from '../sinks/sinks.ts';
import { ScenarioStage, type StageOptions } from './stage.ts';

/** A run waits at least so long for what a step or an expectation needs, milliseconds. */
const PATIENCE_MS_DEFAULT = 120_000;

/** Returns what a stage needs of a session. */
export function stageAccess(
  session: Session,
  patienceMs: number,
): Omit<StageOptions, 'scenario' | 'steps' | 'sink'> {
  return {
    client: session.api(),
    removingClient: session.lastingApi(),
    dataDir: session.settings.dataDir,
    pause: (ms) => session.pause(ms),
    signal: session.signal,
    patienceMs,
  };
}

/** Opens the stage of a scenario that has endpoints of its own; undefined when it has none. */
export async function openStage(
  session: Session,
  scenario: Scenario,
  steps: readonly PlannedStep[],
  sink: EventSink,
  patienceMs: number = PATIENCE_MS_DEFAULT,
): Promise<ScenarioStage | undefined> {
  const names = Object.keys(scenario.endpoints);
  if (names.length === 0) return undefined;
  const opening = ScenarioStage.open({ ...stageAccess(session, patienceMs), scenario, steps, sink });
  return session.output.during(() => `making ${names.length} endpoint(s) of the scenario`, opening);
}

/** Waits for every expectation of a scenario with endpoints of its own. */
export async function judgeOnStage(
  stage: ScenarioStage,
  expectations: readonly Expectation[],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const expectation of expectations) verdicts.push(await stage.judge(expectation));
  return verdicts;
}

/** How a receiver answered a request that came on top of a scenario's events. */
export interface DirectAnswer {
  readonly step: string;
  readonly action: PlannedAction['action'];
  readonly status: number;
  /** The receiver's own account of what it did, from the header webhook-result. */
  readonly result?: string | undefined;
}

/** Does to a receiver what a scenario says, without hookrail; what concerns hookrail's endpoints is left out. */
export function directStage(
  target: DirectTarget,
  steps: readonly PlannedStep[],
  send: (step: PlannedStep) => Promise<number>,
  onAnswer: (answer: DirectAnswer) => void,
): Stage {
  return {
    until: async () => {},
    perform: async ({ id, action }) => {
      if (!('step' in action)) return;
      const step = steps.find((planned) => planned.id === action.step);
      if (step === undefined) return;
      const isOwn = action.kind === 'forge' || action.kind === 'overtaken';
      const answer = isOwn
        ? await answerOf(target, ownRequest(step.event, target, Date.now(), action))
        : { status: await send(step) };
      onAnswer({ step: id, action, ...answer });
    },
  };
}
