import { formatDuration } from '../../client/duration.ts';
import type { Expectation } from '../scenario/scenario.ts';
import type { LoggedDelivery, LoggedEvent } from './log-of-run.ts';
import type { Run, RunStep, SentStep } from './run-store.ts';

/** The verdict on one step of a run. */
export interface StepVerdict {
  readonly step: string;
  readonly type: string;
  readonly subType: string;
  readonly event_uuid: string;
  readonly expected: Expectation['status'];
  readonly within_ms: number;
  /** `open`: it can still become either. `skipped`: no endpoint subscribed to it, and nothing else was expected. */
  readonly verdict: 'passed' | 'failed' | 'open' | 'skipped';
  /** The findings, one line per endpoint where they differ. */
  readonly found: string;
  /** The time from the event's acceptance to the end of its last attempt, milliseconds. */
  readonly took_ms: number | null;
}

const GIVEN_UP = ['exhausted', 'refused', 'cancelled'];

/**
 * Compares the log with what the run expects: every delivery arrived, in time, no more than once; or, where the scenario
 * says so, that it failed or was skipped. `isTimeUp`: what has not happened by now is a failure.
 */
export function verdictsOn(
  run: Run,
  log: ReadonlyMap<string, LoggedEvent>,
  { withinMs, isTimeUp }: { readonly withinMs: number; readonly isTimeUp: (step: SentStep) => boolean },
): readonly StepVerdict[] {
  const unsent = run.planned.filter(({ step }) => !run.sent.some((sent) => sent.step === step));
  return [
    ...run.sent.map((sent) => {
      const own = run.expect.find(({ step }) => step === sent.step);
      const expectation = own ?? { step: sent.step, status: 'delivered', withinMs };
      const found = judgeStep(sent, expectation, own !== undefined, log.get(sent.event_uuid));
      const isLate = found.verdict === 'open' && isTimeUp(sent);
      return {
        ...verdictBase(sent, expectation),
        ...found,
        ...(isLate ? { verdict: 'failed' as const } : {}),
      };
    }),
    ...unsent.map((step) => {
      const own = run.expect.find((expectation) => expectation.step === step.step);
      const expectation = own ?? { step: step.step, status: 'delivered' as const, withinMs };
      return {
        ...verdictBase(step, expectation),
        verdict: 'failed' as const,
        found: 'it was not sent: the run was interrupted',
        took_ms: null,
      };
    }),
  ];
}

function verdictBase(step: RunStep, { status, withinMs }: Pick<Expectation, 'status' | 'withinMs'>) {
  const { step: id, type, subType, event_uuid } = step;
  return { step: id, type, subType, event_uuid, expected: status, within_ms: withinMs };
}

type Found = Pick<StepVerdict, 'verdict' | 'found' | 'took_ms'>;

function judgeStep(
  sent: SentStep,
  { status, withinMs }: Pick<Expectation, 'status' | 'withinMs'>,
  isScripted: boolean,
  logged: LoggedEvent | undefined,
): Found {
  if (sent.status === 'quarantined') return failed('it was quarantined');
  if (logged === undefined) return { verdict: 'open', found: 'it was not routed', took_ms: null };
  const { event, deliveries } = logged;
  const routed = event.endpoints.filter(({ delivery_uuid }) => delivery_uuid !== null);
  if (status === 'skipped') {
    if (routed.length === 0) return { verdict: 'passed', found: skippedBy(event), took_ms: null };
    return failed(`${routed.length} endpoint(s) received it`);
  }
  if (routed.length === 0) {
    // Nobody subscribed to it: that is no failure unless the scenario expects a delivery.
    const isLeftOut = !isScripted && event.endpoints.length > 0;
    return { ...failed(skippedBy(event)), verdict: isLeftOut ? 'skipped' : 'failed' };
  }
  const acceptedAt = Date.parse(event.created_at);
  const judged = routed.map(({ endpoint_uuid }) => {
    const own = deliveries.filter((delivery) => delivery.endpoint_uuid === endpoint_uuid && isLive(delivery));
    return status === 'delivered'
      ? judgeArrival(endpoint_uuid, own, acceptedAt, withinMs)
      : judgeEnd(endpoint_uuid, own, status);
  });
  const tookMs = Math.max(
    -1,
    ...deliveries
      .filter(isLive)
      .flatMap((delivery) => endOf(delivery) ?? [])
      .map((end) => end - acceptedAt),
  );
  const took_ms = tookMs < 0 ? null : tookMs;
  // `delivered` concerns every endpoint; a failure that is expected has to happen at one of them.
  const isOne = status !== 'delivered' && judged.some(({ verdict }) => verdict === 'passed');
  const decisive = isOne ? 'passed' : worst(judged.map(({ verdict }) => verdict));
  const shown = judged.filter(({ verdict }) => verdict === decisive).map(({ found }) => found);
  return { verdict: decisive, found: [...new Set(shown)].join('\n'), took_ms };
}

function failed(found: string): Found {
  return { verdict: 'failed', found, took_ms: null };
}

function worst(verdicts: readonly StepVerdict['verdict'][]): StepVerdict['verdict'] {
  return verdicts.includes('failed') ? 'failed' : verdicts.includes('open') ? 'open' : 'passed';
}

/** Resends and tests were asked for: they are no repetitions. */
function isLive({ trigger }: LoggedDelivery): boolean {
  return trigger === 'live' || trigger === 'replay';
}

interface Judged {
  readonly verdict: StepVerdict['verdict'];
  readonly found: string;
}

function judgeArrival(
  endpoint: string,
  deliveries: readonly LoggedDelivery[],
  acceptedAt: number,
  withinMs: number,
): Judged {
  const arrivals = deliveries.reduce((sum, delivery) => sum + arrivalsOf(delivery), 0);
  if (arrivals > 1) return { verdict: 'failed', found: `it arrived ${arrivals} times at ${endpoint}` };
  const delivered = deliveries.find(({ status }) => status === 'delivered');
  if (delivered === undefined) {
    const [delivery] = deliveries;
    const status = delivery?.status ?? 'pending';
    const reason = delivery?.last_failure_code ?? delivery?.cancel_reason;
    const found = `${status}${reason ? ` (${reason})` : ''} at ${endpoint}`;
    const next = delivery?.next_attempt_at;
    const isTooLate = next != null && Date.parse(next) > acceptedAt + withinMs;
    return { verdict: GIVEN_UP.includes(status) || isTooLate ? 'failed' : 'open', found };
  }
  const tookMs = (endOf(delivered) ?? acceptedAt) - acceptedAt;
  if (tookMs > withinMs) {
    const found = `it arrived after ${formatDuration(tookMs)} at ${endpoint}, not within ${formatDuration(withinMs)}`;
    return { verdict: 'failed', found };
  }
  return { verdict: 'passed', found: `delivered in ${formatDuration(Math.max(0, tookMs))}` };
}

function judgeEnd(
  endpoint: string,
  deliveries: readonly LoggedDelivery[],
  expected: Expectation['status'],
): Judged {
  const statuses = deliveries.map(({ status }) => status);
  if (statuses.includes(expected as LoggedDelivery['status'])) return { verdict: 'passed', found: expected };
  const isOver = statuses.some((status) => status === 'delivered' || GIVEN_UP.includes(status));
  return { verdict: isOver ? 'failed' : 'open', found: `${statuses.join(', ') || 'pending'} at ${endpoint}` };
}

/** Returns how often the receiver accepted it. */
function arrivalsOf({ status, attempts }: LoggedDelivery): number {
  if (attempts === undefined) return status === 'delivered' ? 1 : 0;
  return attempts.filter(({ failure_code }) => failure_code === null).length;
}

/** Returns when the last attempt ended, or at least began, milliseconds since the epoch. */
function endOf({ attempts, last_attempt_at }: LoggedDelivery): number | undefined {
  const last = attempts?.at(-1);
  if (last) return Date.parse(last.started_at) + last.duration_ms;
  return last_attempt_at === null ? undefined : Date.parse(last_attempt_at);
}

function skippedBy({ endpoints }: LoggedEvent['event']): string {
  if (endpoints.length === 0) return 'the merchant has no endpoints';
  return `no endpoint received it: ${[...new Set(endpoints.map(({ verdict }) => verdict))].join(', ')}`;
}
