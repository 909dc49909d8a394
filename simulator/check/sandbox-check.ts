import { ApiRefusal } from '../client/api-refusal.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { describeExpectation } from '../scenario/expectations.ts';
import { type PlannedStep, planActions, planFromNow } from '../scenario/plan.ts';
import { play } from '../scenario/player.ts';
import { PLAIN_ENDPOINT, type Scenario } from '../scenario/scenario-format.ts';
import type { Session } from '../session.ts';
import type { EventSink } from '../sinks/sinks.ts';
import { NotCheckable } from '../stage/patience.ts';
import { judgeOnStage, stageAccess } from '../stage/run-stage.ts';
import { ScenarioStage, stagePlain, unstage } from '../stage/stage.ts';
import type { Staged } from '../stage/staged-endpoint.ts';
import type { Case } from './cases.ts';
import type { CaseResult } from './results.ts';

export interface SandboxCheckOptions {
  readonly sink: EventSink;
  readonly seed: string;
  readonly speed: number;
  /** The longest wait for a condition or an expectation, milliseconds. */
  readonly patienceMs: number;
  readonly onResult: (result: CaseResult) => void;
}

/** The results of the check, and the command that helps with what was not checked. */
export interface SandboxCheck {
  readonly results: readonly CaseResult[];
  readonly next: readonly string[];
}

/**
 * Plays each case through the sandbox and evaluates its expectations. The cases follow each other, because the events
 * of one go to every endpoint of the merchant. Rejects when the API or the sink cannot be used.
 */
export async function checkOnSandbox(
  session: Session,
  cases: readonly Case[],
  options: SandboxCheckOptions,
): Promise<SandboxCheck> {
  const { output } = session;
  const access = stageAccess(session, options.patienceMs);
  const needsShared = cases.some(({ scenario }) => isPlain(scenario));
  const shared = needsShared
    ? await output.during(() => 'making an endpoint', stagePlain(access))
    : undefined;
  const results: CaseResult[] = [];
  const next = new Set<string>();
  try {
    for (const one of cases) {
      if (session.signal.aborted) break;
      const stage = { ...access, shared: isPlain(one.scenario) ? shared : undefined };
      const playing = playCase(session, one, options, stage, next);
      const result = await output.during(() => `playing ${one.name}`, playing);
      if (session.signal.aborted) break;
      results.push(result);
      options.onResult(result);
    }
  } finally {
    if (shared !== undefined) await unstage([shared], access.removingClient);
  }
  return { results, next: [...next] };
}

/** Returns whether a scenario needs no more than one endpoint that nothing happens to. */
function isPlain({ endpoints, actions }: Scenario): boolean {
  const wanted = Object.values(endpoints);
  const isUntouched = actions.every(({ action }) => !('endpoint' in action));
  return wanted.length === 0 || (wanted.length === 1 && isUntouched && isDefault(wanted[0] ?? {}));
}

function isDefault(endpoint: object): boolean {
  return JSON.stringify(endpoint) === JSON.stringify(PLAIN_ENDPOINT);
}

async function playCase(
  session: Session,
  { name, scenario, variant }: Case,
  { sink, seed, speed, patienceMs }: SandboxCheckOptions,
  access: ReturnType<typeof stageAccess> & { readonly shared: Staged | undefined },
  next: Set<string>,
): Promise<CaseResult> {
  const startedAt = Date.now();
  const result = (status: CaseResult['status'], findings: readonly string[], did?: string): CaseResult => {
    const durationMs = Date.now() - startedAt;
    return { name, status, durationMs, findings, ...(did === undefined ? {} : { did }) };
  };
  const merchantId = session.settings.merchantId();
  const steps = planFromNow(scenario, { seed, merchantId, overrides: variant }, { now: startedAt, speed });
  const { pause, signal } = access;
  const endpoints =
    Object.keys(scenario.endpoints).length === 0 ? { main: PLAIN_ENDPOINT } : scenario.endpoints;
  let stage: ScenarioStage | undefined;
  try {
    stage = await ScenarioStage.open({ ...access, scenario: { ...scenario, endpoints }, steps, sink });
    const sent: string[] = [];
    const onSent = (
      step: PlannedStep,
      { status, detail }: { status: string; detail?: string },
      at: number,
    ) => {
      stage?.sent(step, at);
      if (status === 'quarantined') sent.push(`${step.id} was quarantined${detail ? `: ${detail}` : ''}`);
    };
    const actions = planActions(scenario);
    await play(steps, {
      sink,
      speed,
      pause,
      signal,
      clock: session.clock,
      stage,
      actions,
      onSent,
      watchMs: patienceMs,
      waiting: () => () => {},
    });
    const verdicts = await judgeOnStage(stage, scenario.expect);
    const unmet = verdicts.filter(({ met }) => !met);
    const findings = unmet.map(({ expectation, found }) => `${describeExpectation(expectation)}: ${found}`);
    if (sent.length + findings.length > 0) return result('failed', [...sent, ...findings]);
    return result('passed', [], `${steps.length} ${steps.length === 1 ? 'event' : 'events'}`);
  } catch (error) {
    if (error instanceof NotCheckable) {
      for (const line of error.next) next.add(line);
      return result('not_checked', [error.message]);
    }
    if (isOfTheCase(error)) return result('failed', [error.message]);
    throw error;
  } finally {
    await stage?.close();
  }
}

/** Without the API or the key, no case can be played: such failures end the check. */
function isOfTheCase(error: unknown): error is CommandFailure {
  if (error instanceof ApiRefusal) return error.status !== 401 && error.status !== 403;
  return error instanceof CommandFailure && error.exitCode === EXIT.expectation;
}
