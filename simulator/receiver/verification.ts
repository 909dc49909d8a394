import { timingSafeEqual } from 'node:crypto';
import { sign } from '../../services/domain/signature.ts';

/** The most that webhook-timestamp may differ from the receiver's clock, as in the Standard Webhooks libraries. */
export const TOLERANCE_SECONDS_DEFAULT = 300;

export const CHECKS = ['authorization', 'signature', 'timestamp'] as const;
export type CheckName = (typeof CHECKS)[number];

export interface Check {
  readonly name: CheckName;
  readonly ok: boolean;
  /** A description of what was found and what was expected. Never the secret itself. */
  readonly detail: string;
}

export interface Verdict {
  /** All checks passed: a correct receiver takes the webhook. Otherwise it must discard it. */
  readonly authentic: boolean;
  readonly checks: readonly Check[];
}

export interface CapturedRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body's exact bytes: one re-encoded character breaks the signature. */
  readonly body: Uint8Array;
}

/**
 * Verifies a request as a receiver must (docs/specification.md, "Webhook requests"): compares the Authorization header
 * with the secret, and checks the Standard Webhooks signature and its age. `nowSeconds`: unix time.
 */
export function verifyRequest(
  request: CapturedRequest,
  secret: string,
  nowSeconds: number,
  toleranceSeconds: number = TOLERANCE_SECONDS_DEFAULT,
): Verdict {
  const checks = [
    checkAuthorization(request.headers.authorization, secret),
    checkSignature(request, secret),
    checkTimestamp(request.headers['webhook-timestamp'], nowSeconds, toleranceSeconds),
  ];
  return { authentic: checks.every((check) => check.ok), checks };
}

function checkAuthorization(header: string | undefined, secret: string): Check {
  const check = (ok: boolean, detail: string): Check => ({ name: 'authorization', ok, detail });
  if (header === undefined) return check(false, 'there is no Authorization header');
  const scheme = 'API-Key ';
  if (!header.startsWith(scheme)) return check(false, `Authorization does not start with "${scheme}"`);
  if (!equal(header.slice(scheme.length), secret)) {
    return check(false, 'Authorization carries another secret: was it rotated, or is it another endpoint’s?');
  }
  return check(true, 'Authorization carries the secret');
}

function checkSignature({ headers, body }: CapturedRequest, secret: string): Check {
  const check = (ok: boolean, detail: string): Check => ({ name: 'signature', ok, detail });
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (!id) return check(false, 'there is no webhook-id header');
  if (!signatures) return check(false, 'there is no webhook-signature header');
  if (!timestamp || !/^\d{1,12}$/.test(timestamp)) {
    return check(false, 'webhook-timestamp is not a number of seconds');
  }
  const expected = sign(secret, id, Number(timestamp), body);
  // A sender may send several, separated by spaces, while keys change.
  if (signatures.split(' ').some((signature) => equal(signature, expected))) {
    return check(true, 'the signature matches id, timestamp and body');
  }
  return check(false, 'the signature does not match: another secret, or a changed body, id or timestamp');
}

function checkTimestamp(header: string | undefined, nowSeconds: number, toleranceSeconds: number): Check {
  const check = (ok: boolean, detail: string): Check => ({ name: 'timestamp', ok, detail });
  const timestamp = Number(header ?? Number.NaN);
  if (!Number.isFinite(timestamp)) return check(false, 'webhook-timestamp is not a number of seconds');
  const ageSeconds = Math.round(nowSeconds - timestamp);
  const where = ageSeconds >= 0 ? `${ageSeconds} s old` : `${-ageSeconds} s in the future`;
  const ok = Math.abs(ageSeconds) <= toleranceSeconds;
  return check(ok, ok ? `it is ${where}` : `it is ${where}; at most ${toleranceSeconds} s are tolerated`);
}

/** Compares in constant time for equal lengths; the length itself is not secret. */
function equal(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}
