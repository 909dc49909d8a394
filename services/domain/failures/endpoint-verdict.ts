/**
 * Says in one look whether an endpoint gets its webhooks, and if not, whose fault it is: the receiver's, the service's, or
 * that of the network between them. For the merchant's developer who asks "is it me?".
 */
import type { FailureCode } from '../attempt.ts';
import type { EndpointStatus } from '../endpoint.ts';
import type { ParkedReason } from '../task.ts';
import { explainParking } from './explanation.ts';
import { CODE_SIGNS } from './failure-codes.ts';

/** `off`: the endpoint is disabled. `idle`: nothing was sent to it so far. */
export type Side = 'healthy' | 'idle' | 'off' | 'yours' | 'network' | 'ours';

export interface EndpointVerdict {
  readonly side: Side;
  /** Sentences; times are in the form of the API. */
  readonly says: string;
  /** The remedy; null where there is none. */
  readonly remedy: string | null;
}

/** A delivery that is owed. Times are milliseconds since the epoch. */
export interface Waiting {
  readonly parkedReason: ParkedReason | null;
  readonly nextAttemptAt: number | null;
  readonly lastAttemptAt: number | null;
  readonly lastFailure: Failure | null;
}

interface Failure {
  readonly code: FailureCode;
  readonly responseStatus: number | null;
}

/** The facts that a verdict states. Times are milliseconds since the epoch. */
export interface EndpointFacts {
  readonly status: EndpointStatus;
  readonly offSince: number | null;
  readonly offReason: string | null;
  readonly failureCount: number;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  readonly lastFailure: Failure | null;
  /** When a test or a resend was delivered the last time; neither counts for the health. */
  readonly provedAt: number | null;
  readonly waiting: readonly Waiting[];
  /** More deliveries may wait than `waiting` has. */
  readonly hasMore: boolean;
}

/** Each failure without a status in few words, and whose it is. A receiver that was reached is the merchant's. */
const FAILURES: Readonly<Record<FailureCode, readonly [side: 'yours' | 'network', says: string]>> = {
  dns_error: ['network', 'DNS has no address for the host name'],
  blocked_address: ['network', 'the host name leads to an address that is not public'],
  connect_timeout: ['network', 'no connection in time'],
  connect_refused: ['network', 'the connection is refused'],
  tls_error: ['network', 'the TLS handshake fails'],
  response_timeout: ['yours', 'no response from your server in time'],
  connection_reset: ['yours', 'your server closes the connection without a response'],
  protocol_error: ['yours', 'the response of your server is not HTTP/1.1'],
  headers_too_large: ['yours', 'the headers of the response of your server are too large'],
  http_1xx: ['yours', 'no final response from your server'],
  http_3xx: ['yours', 'a redirect from your server'],
  http_4xx: ['yours', 'a refusal from your server'],
  http_5xx: ['yours', 'an error from your server'],
  endpoint_gone: ['yours', '410 from your server'],
};

/** The reasons to wait that are the receiver's; all others are of the service. */
const OF_RECEIVER: readonly ParkedReason[] = ['endpoint_full', 'rate_limited_here', 'origin_connections'];

/** Returns whose fault a failure is: the receiver's, or that of the way to it. */
function sideOf(code: FailureCode): 'yours' | 'network' {
  return FAILURES[code][0];
}

/** Returns the verdict on an endpoint. */
export function judgeEndpoint(facts: EndpointFacts): EndpointVerdict {
  if (facts.status !== 'active') return disabled(facts);
  const held = parkedBy(facts, (reason) => reason !== 'put_aside' && !OF_RECEIVER.includes(reason));
  if (held !== undefined)
    return { side: 'ours', says: `${begun(explainParking(held))}${owed(facts)}`, remedy: null };
  const { failureCount, lastFailure, lastFailureAt, provedAt } = facts;
  if (failureCount > 0 && lastFailure !== null) {
    return provedAt !== null && provedAt > (lastFailureAt ?? 0)
      ? {
          side: 'healthy',
          says: `It has answered a test or a resend${at(provedAt)}${owed(facts)}`,
          remedy: null,
        }
      : failing(lastFailure, `, ${lastSuccess(facts)}${owed(facts)}`);
  }
  return some(facts) ?? slow(facts) ?? healthy(facts);
}

function disabled(facts: EndpointFacts): EndpointVerdict {
  const { status, offSince, offReason, lastFailure } = facts;
  if (status === 'disabled') {
    const remedy = 'Enable it to receive again, and bring back what it has missed.';
    return { side: 'off', says: `Disabled by you${since(offSince)}: nothing is sent to it.`, remedy };
  }
  const why =
    offReason === 'gone' || lastFailure === null
      ? 'your server answered 410'
      : `its deliveries kept failing: ${inShort(lastFailure)}`;
  const remedy = 'Repair the receiver, then enable the endpoint and bring back what it has missed.';
  const side = offReason === 'gone' || lastFailure === null ? 'yours' : sideOf(lastFailure.code);
  return {
    side,
    says: `Disabled by hookrail${since(offSince)}, because ${why}. Nothing is sent to it.`,
    remedy,
  };
}

function failing(failure: Failure, more: string): EndpointVerdict {
  const { code } = failure;
  return { side: sideOf(code), says: `${begun(inShort(failure))}${more}`, remedy: CODE_SIGNS[code].remedy };
}

/** Some deliveries fail while others arrive: those that failed after the last success. */
function some(facts: EndpointFacts): EndpointVerdict | undefined {
  const { waiting, lastSuccessAt, provedAt } = facts;
  const fine = Math.max(lastSuccessAt ?? 0, provedAt ?? 0);
  const failed = waiting.filter(({ lastAttemptAt }) => lastAttemptAt !== null && lastAttemptAt > fine);
  const failure = failed.find(({ lastFailure }) => lastFailure !== null)?.lastFailure;
  if (!failure) return undefined;
  return failing(failure, `, of ${counted(failed.length, facts.hasMore)}; others arrive.`);
}

/** Deliveries wait although nothing failed. */
function slow(facts: EndpointFacts): EndpointVerdict | undefined {
  const reason = parkedBy(facts, () => true);
  if (reason === undefined) return undefined;
  const side = OF_RECEIVER.includes(reason) ? 'yours' : 'ours';
  return { side, says: `${begun(explainParking(reason))}${owed(facts)}`, remedy: null };
}

function healthy(facts: EndpointFacts): EndpointVerdict {
  const { lastSuccessAt, lastFailureAt, provedAt } = facts;
  if (lastSuccessAt !== null)
    return { side: 'healthy', says: `Last success${at(lastSuccessAt)}${owed(facts)}`, remedy: null };
  if (provedAt !== null)
    return {
      side: 'healthy',
      says: `It has answered a test${at(provedAt)}; no event was sent to it yet.`,
      remedy: null,
    };
  const says =
    lastFailureAt === null ? 'Nothing was sent to it yet.' : 'Nothing was sent to it since it was changed.';
  return { side: 'idle', says, remedy: 'Send a test, and see what your server answers.' };
}

function parkedBy(
  { waiting }: EndpointFacts,
  isMeant: (reason: ParkedReason) => boolean,
): ParkedReason | undefined {
  for (const { parkedReason } of waiting)
    if (parkedReason !== null && isMeant(parkedReason)) return parkedReason;
  return undefined;
}

/** Returns a failure in few words: the status where the receiver answered one. */
function inShort({ code, responseStatus }: Failure): string {
  return responseStatus === null ? FAILURES[code][1] : `HTTP ${responseStatus} from your server`;
}

function lastSuccess({ lastSuccessAt }: EndpointFacts): string {
  return lastSuccessAt === null ? 'no success so far' : `no success since ${iso(lastSuccessAt)}`;
}

/** Returns how many deliveries wait, and when the next one is due; ends the sentence. */
function owed({ waiting, hasMore }: EndpointFacts): string {
  if (waiting.length === 0) return '.';
  const due = waiting.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []);
  const next = due.length === 0 ? '' : `, the next attempt is due${at(Math.min(...due))}`;
  return `. ${begun(counted(waiting.length, hasMore))} ${waiting.length === 1 ? 'waits' : 'wait'}${next}.`;
}

function counted(count: number, hasMore: boolean): string {
  return `${hasMore ? 'at least ' : ''}${count === 1 ? '1 delivery' : `${count} deliveries`}`;
}

function begun(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function since(time: number | null): string {
  return time === null ? '' : ` since ${iso(time)}`;
}

function at(time: number): string {
  return ` at ${iso(time)}`;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
