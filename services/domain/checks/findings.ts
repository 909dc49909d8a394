import type { FailureCode } from '../attempt.ts';
import { explainParking } from '../failures/explanation.ts';
import { CODE_SIGNS } from '../failures/failure-codes.ts';
import { partsOfDescribed } from '../failures/failure-signs.ts';
import type { ParkedReason } from '../task.ts';
import type { CheckStep } from './endpoint-check.ts';

/* The sentences of a check. */

/** The result of one step. */
export type Finding = Pick<CheckStep, 'result' | 'says' | 'remedy' | 'facts'>;

const DAY_MS = 86_400_000;
/** A certificate that ends sooner should have been renewed. */
const DAYS_LEFT_MIN = 14;
/** An answer that takes a larger share of an attempt's time comes too late on a bad day. */
const SLOW_SHARE = 0.3;

const ok = (says: string, facts: Finding['facts'] = {}): Finding => ({
  result: 'ok',
  says,
  remedy: null,
  facts,
});
const warning = (says: string, remedy: string, facts: Finding['facts'] = {}): Finding => ({
  result: 'warning',
  says,
  remedy,
  facts,
});

export function notTried(why = 'Not tried: a step before it failed.'): Finding {
  return { result: 'not_tried', says: why, remedy: null, facts: {} };
}

/** A step that the service itself could not take. */
export function oursToMend(reason: ParkedReason): Finding {
  return notTried(`Not tried: ${explainParking(reason)}.`);
}

/** A step that failed as an attempt fails. `detail`: of the failure, which may be described by its code. */
export function failed(code: FailureCode, detail: string, facts: Finding['facts'] = {}): Finding {
  const { says, remedy } = partsOfDescribed(detail);
  return {
    result: 'failed',
    says: sentence(says),
    remedy: sentence(remedy ?? CODE_SIGNS[code].remedy),
    facts,
  };
}

export function resolved(host: string, addresses: readonly string[]): Finding {
  return ok(`${host} leads to ${listed(addresses)}.`, { addresses });
}

/** `refusals`: of the addresses that were tried before one accepted, each with why. */
export function connected(address: string, refusals: readonly string[]): Finding {
  if (refusals.length === 0) return ok(`${address} accepted the connection.`, { address });
  const says = `${address} accepted the connection, but not every address did: ${refusals.join('; ')}.`;
  return warning(says, 'Take addresses that no server answers out of the DNS, or start the server.', {
    address,
    refusals,
  });
}

export interface Certificate {
  readonly tlsVersion: string;
  readonly names: readonly string[];
  /** The server's own certificate first. */
  readonly chain: readonly string[];
  /** The end of its certificate, milliseconds since the epoch. */
  readonly until: number;
}

export function secured({ tlsVersion, names, chain, until }: Certificate, now: number): Finding {
  const days = Math.floor((until - now) / DAY_MS);
  const facts = {
    tls_version: tlsVersion,
    names,
    chain,
    days_left: days,
    valid_until: new Date(until).toISOString(),
  };
  const says = `${tlsVersion}; the certificate is for ${listed(names)}, its chain is trusted, and it ends in ${days} days.`;
  if (days >= DAYS_LEFT_MIN) return ok(says, facts);
  return warning(says, 'Renew the certificate, and have the server load the new one.', facts);
}

/** The status by which the server answers a request that is no webhook. */
export function answered(status: number): Finding {
  const facts = { status };
  const says = `The server answers HTTP ${status} to a HEAD request.`;
  if (status === 410)
    return warning(says, 'A webhook that is answered so ends, and disables the endpoint.', facts);
  if (status >= 500) return warning(says, CODE_SIGNS.http_5xx.remedy, facts);
  if (status < 400) return ok(says, facts);
  return ok(
    `${says} Many receivers take only signed POST requests: a test shows what it answers to one.`,
    facts,
  );
}

/** `redirect`: where the answer leads, with the detail that an attempt would have; null: it does not say. */
export function redirected(
  status: number,
  redirect: { readonly to: string; readonly says: string } | null,
): Finding {
  if (status < 300 || status >= 400) return ok('The answer is no redirect.');
  const says = sentence(redirect?.says ?? 'the answer is a redirect that does not say where it leads');
  const facts = redirect === null ? {} : { location: redirect.to };
  return { result: 'failed', says, remedy: CODE_SIGNS.http_3xx.remedy, facts };
}

/** `mostMs`: after which an attempt fails. */
export function took(ms: number, mostMs: number): Finding {
  const says = `The answer took ${Math.round(ms)} ms; an attempt fails after ${Math.round(mostMs / 1000)} s.`;
  if (ms < mostMs * SLOW_SHARE) return ok(says);
  return warning(says, CODE_SIGNS.response_timeout.remedy);
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? 'no name' : items.join(', ');
}

function sentence(text: string): string {
  // Not the name of a host.
  const begun = /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return begun.endsWith('.') ? begun : `${begun}.`;
}
