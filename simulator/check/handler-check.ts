import { CommandFailure, EXIT } from '../exit.ts';
import { type PlannedStep, planActions, planFromNow } from '../scenario/plan.ts';
import { play } from '../scenario/player.ts';
import { PLAIN_ENDPOINT, type Scenario } from '../scenario/scenario-format.ts';
import type { Session } from '../session.ts';
import { type DirectTarget, exchange, genuineRequest } from '../sinks/direct.ts';
import type { EventSink } from '../sinks/sinks.ts';
import { type DirectAnswer, directStage } from '../stage/run-stage.ts';
import type { Case } from './cases.ts';
import type { CaseResult } from './results.ts';

export interface HandlerCheckOptions {
  readonly target: DirectTarget;
  readonly seed: string;
  readonly speed: number;
  readonly onResult: (result: CaseResult) => void;
}

/**
 * Plays cases straight to a developer's own handler, signed as the sender signs: it must answer each webhook with a 2xx,
 * a repeated one again, an older one with webhook-result: older, and a forged one with a 4xx. Rejects when the handler cannot be reached at all.
 */
export async function checkHandler(
  session: Session,
  cases: readonly Case[],
  options: HandlerCheckOptions,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  const reach = { isReached: false };
  for (const one of cases) {
    if (session.signal.aborted) break;
    const playing = playCase(session, one, options, reach);
    const result = await session.output.during(() => `playing ${one.name}`, playing);
    if (session.signal.aborted) break;
    results.push(result);
    options.onResult(result);
  }
  return results;
}

/** Returns whether a scenario says something about a receiver alone, rather than about hookrail's endpoints. */
function concernsHandler({ endpoints, actions }: Scenario): boolean {
  const wanted = Object.values(endpoints);
  const isPlain = wanted.length === 0 || JSON.stringify(wanted) === JSON.stringify([PLAIN_ENDPOINT]);
  return isPlain && actions.every(({ action }) => 'step' in action);
}

async function playCase(
  session: Session,
  { name, scenario, variant }: Case,
  { target, seed, speed }: HandlerCheckOptions,
  reach: { isReached: boolean },
): Promise<CaseResult> {
  const startedAt = Date.now();
  const findings: string[] = [];
  let count = 0;
  if (!concernsHandler(scenario)) {
    return {
      name,
      status: 'skipped',
      durationMs: 0,
      findings: ['it is about hookrail’s side: check it without --to'],
    };
  }
  const merchantId = session.settings.find('merchant')?.value ?? 'sandbox';
  const steps = planFromNow(scenario, { seed, merchantId, overrides: variant }, { now: startedAt, speed });
  const post = async (step: PlannedStep): Promise<number> => {
    const status = await exchange(target, genuineRequest(step.event, target, Date.now()));
    reach.isReached = true;
    count += 1;
    return status;
  };
  const sink: EventSink = {
    send: async (events) => {
      const sent = steps.filter(({ event }) => events.includes(event));
      for (const step of sent) {
        const status = await post(step);
        if (isSuccess(status)) continue;
        findings.push(`${step.id}: your app answered ${status} to ${titleOf(step)} (must be 2xx)`);
      }
      return events.map(() => ({ status: 'answered' }));
    },
  };
  const onAnswer = (answer: DirectAnswer) => {
    // A repeated one has been counted when it was sent.
    if (answer.action.kind === 'forge' || answer.action.kind === 'overtaken') count += 1;
    const fault = faultOf(answer);
    if (fault !== undefined) findings.push(`${answer.step}: ${fault}`);
  };
  try {
    await play(steps, {
      sink,
      speed,
      pause: (ms) => session.pause(ms),
      signal: session.signal,
      clock: session.clock,
      actions: planActions(scenario),
      stage: directStage(target, steps, post, onAnswer),
      onSent: () => {},
      watchMs: 0,
      waiting: () => () => {},
    });
  } catch (error) {
    if (!(error instanceof CommandFailure) || !isOfTheHandler(error, reach)) throw error;
    findings.push(error.message);
  }
  const status = findings.length === 0 ? 'passed' : 'failed';
  const did = `${count} ${count === 1 ? 'webhook' : 'webhooks'}`;
  return { name, status, durationMs: Date.now() - startedAt, findings, did };
}

/** Once the handler has answered, a request without an answer is its fault. */
function isOfTheHandler({ exitCode }: CommandFailure, { isReached }: { isReached: boolean }): boolean {
  return exitCode === EXIT.timeout || (exitCode === EXIT.unreachable && isReached);
}

/** Returns what is wrong with the answer to a request that came on top of the scenario's events; undefined: nothing. */
function faultOf({ action, status, result }: DirectAnswer): string | undefined {
  if (action.kind === 'overtaken') return faultOfOlder(status, result);
  if (action.kind === 'forge') {
    const isRefused = status >= 400 && status <= 499;
    return isRefused
      ? undefined
      : `your app answered ${status} to a forged webhook (${action.how}; must be 4xx)`;
  }
  return isSuccess(status)
    ? undefined
    : `your app answered ${status} to a repeated webhook (must be 2xx again)`;
}

/** Returns what is wrong with the answer to a webhook that is older than one that was sent before. */
function faultOfOlder(status: number, result: string | undefined): string | undefined {
  if (!isSuccess(status)) return `your app answered ${status} to a webhook that is older (must be 2xx)`;
  if (result === 'older') return undefined;
  const said = result === undefined ? 'does not say what it did' : `says webhook-result: ${result}`;
  return `a webhook came that is older than the one before, and your app ${said}: do not apply it, and answer with the header "webhook-result: older" (docs/order.md)`;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function titleOf({ event: { type, subType } }: PlannedStep): string {
  return `${type}/${subType}`;
}
