import { formatDuration } from '../../client/duration.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import type { DeliveryDetailAnswer } from '../client/merchant-api.ts';
import type { Watched, WatchedDelivery } from '../client/watch-news.ts';
import { whySkipped } from './live-lines.ts';
import type { Expectation, ExpectedStatus } from './scenario-format.ts';

export interface Verdict {
  readonly expectation: Expectation;
  readonly met: boolean;
  /** A description of what was found instead. */
  readonly found: string;
}

/** The outcome of one event at one endpoint. */
export interface Outcome {
  /** Its name or uuid. */
  readonly endpoint: string;
  /** Its name in a message; empty when it is the only one. */
  readonly label?: string;
  /** Why it was skipped, in words. */
  readonly says?: string;
  readonly status: ExpectedStatus | 'pending';
  /** Why it was skipped or cancelled, and the failure of the last failed attempt. */
  readonly reasons: readonly string[];
  readonly attempts: number;
  /** When the last attempt ended, milliseconds since the epoch; 0 = none. */
  readonly endedAt: number;
  /** When the next attempt is due; null when there is none. */
  readonly nextAttemptAt: number | null;
  /** The webhook's body; null when none was sent, or it is not known. */
  readonly body: string | null;
  /** Requests that the receiver got; undefined where it is not known. */
  readonly requests?: number;
}

/** The outcomes of one event. */
export interface Observed {
  readonly sentAt: number;
  /** It was routed: the outcomes are complete. */
  readonly routed: boolean;
  readonly outcomes: readonly Outcome[];
}

/** Compares the expectations with the deliveries. `delivered` and `skipped` concern every endpoint of the merchant. */
export function judge(expectations: readonly Expectation[], watched: readonly Watched[]): readonly Verdict[] {
  return expectations.map((expectation) => {
    const seen = watched.filter(({ step }) => isCopyOf(step, expectation.step));
    return judgeAll(expectation, seen.map(observedOf));
  });
}

/** Returns whether a planned step is this step of the scenario, or one of its copies ("done.3"). */
export function isCopyOf(planned: string, step: string): boolean {
  return planned.split('.', 1)[0] === step;
}

/** Compares an expectation with every event that it concerns. */
export function judgeAll(expectation: Expectation, observed: readonly Observed[]): Verdict {
  if (observed.length === 0) return { expectation, met: false, found: 'it was not sent' };
  const verdicts = observed.map((one) => judgeOne(expectation, one));
  const unmet = verdicts.find(({ met }) => !met);
  return { expectation, ...(unmet ?? (verdicts.at(-1) as (typeof verdicts)[number])) };
}

/** Returns an expectation in words: "done delivered", "done at old skipped", "endpoint main auto_disabled". */
export function describeExpectation({ step, endpoint, status }: Expectation): string {
  if (step === '') return `endpoint ${endpoint} ${status}`;
  return `${step}${endpoint === undefined ? '' : ` at ${endpoint}`} ${status}`;
}

type Finding = Pick<Verdict, 'met' | 'found'>;

/** The statuses that every endpoint must have; of the others, one is enough. */
const OF_ALL: readonly ExpectedStatus[] = ['delivered', 'skipped', 'withheld'];

function judgeOne(expectation: Expectation, observed: Observed): Finding {
  const no = (found: string): Finding => ({ met: false, found });
  if (!observed.routed) return no('it was not routed in time');
  const { status, endpoint } = expectation;
  const outcomes = observed.outcomes.filter((one) => endpoint === undefined || one.endpoint === endpoint);
  const sent = outcomes.filter((one) => one.status !== 'skipped');
  if (outcomes.length === 0) {
    const isNothing = status === 'skipped' || status === 'withheld';
    return isNothing ? { met: true, found: 'no endpoint received it' } : no(NO_ENDPOINTS);
  }
  if (sent.length === 0 && status !== 'skipped' && status !== 'withheld') {
    return no(
      `no endpoint received it: ${outcomes.flatMap(({ says, reasons }) => says ?? reasons).join(', ')}`,
    );
  }
  const fits = (outcome: Outcome) => differences(expectation, outcome).length === 0;
  const met = OF_ALL.includes(status) ? outcomes.every(fits) : outcomes.some(fits);
  const statuses = outcomes.map(labelled).join(', ');
  if (!met) return no(outcomes.flatMap((one) => differences(expectation, one)).join('; '));
  if (sent.length === 0) return { met, found: 'no endpoint received it' };
  const tookMs = Math.max(...outcomes.map(({ endedAt }) => endedAt)) - observed.sentAt;
  const inTime = tookMs <= expectation.withinMs;
  return { met: inTime, found: `${statuses} after ${formatDuration(Math.max(0, tookMs))}` };
}

const NO_ENDPOINTS = 'the merchant has no endpoints: hookrail sim endpoints create --url https://…';

/** Returns in what an outcome differs from what is expected. */
function differences(expectation: Expectation, outcome: Outcome): readonly string[] {
  const { status, reason, attempts, requests, body, without } = expectation;
  const found: string[] = [];
  const hasStatus =
    status === 'withheld'
      ? outcome.status === 'skipped' || outcome.status === 'cancelled'
      : outcome.status === status;
  if (!hasStatus) found.push(nameOf(outcome));
  if (reason !== undefined && !outcome.reasons.includes(reason)) {
    found.push(`${outcome.status} for ${outcome.reasons.join(', ') || 'no reason'}, not ${reason}`);
  }
  if (attempts !== undefined && outcome.attempts !== attempts) found.push(`${outcome.attempts} attempt(s)`);
  if (requests !== undefined && outcome.requests !== undefined && outcome.requests !== requests) {
    found.push(`${outcome.requests} request(s) at the receiver, not ${requests}`);
  }
  if (body === undefined && without === undefined) return found;
  if (outcome.body === null) return [...found, 'no body was received'];
  const parsed: unknown = JSON.parse(outcome.body);
  for (const [path, value] of Object.entries(body ?? {})) {
    const actual = valueAt(parsed, path);
    if (actual !== value) found.push(`${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(value)}`);
  }
  for (const path of without ?? []) {
    if (valueAt(parsed, path) !== undefined) found.push(`the webhook has ${path}`);
  }
  return found;
}

function nameOf({ status, label = '', reasons }: Outcome): string {
  const [reason] = reasons;
  const why = status === 'delivered' || reason === undefined ? '' : ` (${reason})`;
  return `${labelled({ status, label })}${why}`;
}

/** Returns a status, with the endpoint where there are several. */
function labelled({ status, label = '' }: Pick<Outcome, 'status' | 'label'>): string {
  return label === '' ? status : `${status} at ${visible(label)}`;
}

function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function observedOf({ sentAt, routed, deliveries, skipped }: Watched): Observed {
  const sent = [...deliveries].map(([uuid, delivery]): Outcome => {
    const name = delivery?.endpoint;
    const label = name === undefined || name.isOnly ? '' : name.label;
    return { ...outcomeOf(delivery?.endpoint_uuid ?? uuid, delivery), label };
  });
  // An endpoint that was left out beside one that got the event is nothing that went wrong.
  const left = skipped.map(({ endpoint, verdict }): Outcome => {
    const says = `${visible(endpoint?.label ?? '')} (${whySkipped(verdict, endpoint?.apiVersion ?? null)})`;
    return { ...skippedAt(endpoint?.label ?? '', verdict), says };
  });
  return { sentAt, routed, outcomes: sent.length > 0 ? sent : left };
}

/** Returns the outcome of an event that an endpoint did not get. */
export function skippedAt(endpoint: string, verdict: string): Outcome {
  const nothing = { attempts: 0, endedAt: 0, nextAttemptAt: null, body: null };
  return { endpoint, status: 'skipped', reasons: [verdict], ...nothing };
}

/** Returns the outcome of a delivery; null = nothing is known of it yet. */
export function outcomeOf(
  endpoint: string,
  delivery: DeliveryDetailAnswer | WatchedDelivery | null,
): Outcome {
  const attempts = delivery?.attempts ?? [];
  const failures = attempts.flatMap(({ failure_code }) => failure_code ?? []);
  const next = delivery?.next_attempt_at ?? null;
  return {
    endpoint,
    status: (delivery?.status ?? 'pending') as Outcome['status'],
    reasons: [...(delivery?.cancel_reason ? [delivery.cancel_reason] : []), ...failures.slice(-1)],
    attempts: attempts.length,
    endedAt: Math.max(0, ...attempts.map((one) => Date.parse(one.started_at) + one.duration_ms)),
    nextAttemptAt: next === null ? null : Date.parse(next),
    body: delivery !== null && 'body' in delivery ? delivery.body : null,
  };
}
