import type { PlannedStep } from '../scenario/plan.ts';
import type { Stage } from '../scenario/player.ts';
import type { SinkOptions } from '../scenario/run-options.ts';
import type { Scenario } from '../scenario/scenario-format.ts';
import type { Session } from '../session.ts';
import { directUrl, exchange, genuineRequest } from '../sinks/direct.ts';
import { authorityFor } from '../sinks/open-sink.ts';
import type { EventSink } from '../sinks/sinks.ts';
import { type DirectAnswer, directStage, openStage } from './run-stage.ts';
import type { ScenarioStage } from './stage.ts';

/** The stage of a `run`: it performs the steps of a scenario that are no events. */
export interface StageOfRun {
  readonly stage: Stage | undefined;
  /** Judges the expectations of a scenario with endpoints of its own. */
  readonly judging: ScenarioStage | undefined;
  /** Removes the endpoints and closes the sink. Never rejects. */
  close(): Promise<void>;
}

/** Makes the endpoints of a scenario's own, or what stands for them where events do not go to hookrail. */
export async function stageOfRun(
  session: Session,
  options: SinkOptions,
  scenario: Scenario,
  steps: readonly PlannedStep[],
  sink: EventSink,
): Promise<StageOfRun> {
  const closeSink = async () => sink.close?.();
  try {
    if (options.sink === 'api' || options.sink === 'kafka') {
      const stage = await openStage(session, scenario, steps, sink);
      return {
        stage,
        judging: stage,
        close: () => Promise.all([stage?.close(), closeSink()]).then(() => {}),
      };
    }
    if (options.sink === 'direct') {
      return { stage: stageOnReceiver(session, options, steps), judging: undefined, close: closeSink };
    }
    sayLeftOut(session, scenario);
    return { stage: undefined, judging: undefined, close: closeSink };
  } catch (error) {
    await closeSink();
    throw error;
  }
}

function stageOnReceiver(session: Session, options: SinkOptions, steps: readonly PlannedStep[]): Stage {
  const { output } = session;
  const url = directUrl(options.to ?? '');
  const target = { url, secret: options.secret ?? '', ca: authorityFor(session, options.ca) };
  const again = (step: PlannedStep) => exchange(target, genuineRequest(step.event, target, Date.now()));
  const show = ({ step, action, status }: DirectAnswer) => {
    const told = action.kind === 'overtaken' ? 'older than the last one' : 'sent again';
    const what = action.kind === 'forge' ? `forged (${action.how})` : told;
    output.item({ kind: 'answered', step, action: action.kind, response_status: status }, () =>
      output.row([`→ ${step}`, what, String(status)]),
    );
  };
  return directStage(target, steps, again, show);
}

function sayLeftOut({ output }: Session, { actions }: Scenario): void {
  if (actions.length === 0) return;
  output.remark(`left out, because nothing is delivered: ${actions.map(({ id }) => id).join(', ')}`);
}
