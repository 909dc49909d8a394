/**
 * Verifies a request as a receiver must (docs/specification.md, "Webhook requests"), and finds out why it fails. Pure: who
 * calls it computes the HMAC-SHA256, on Node or in a browser.
 */
import { secretHint } from '../secret.ts';
import { authorizationOf, REDACTED } from '../webhook-request.ts';
import {
  bodyVariants,
  idVariants,
  secretVariants,
  textOf,
  timestampVariants,
  type Undone,
  type Variant,
} from './alterations.ts';
import { base64Bytes } from './base64.ts';

/** The most that webhook-timestamp may differ from the receiver's clock, as in the Standard Webhooks libraries. */
export const TOLERANCE_SECONDS_DEFAULT = 300;

/** `v1a`: the signature of the platform's own key (platform-signature.ts), where its public keys are given. */
export const CHECKS = ['authorization', 'signature', 'timestamp', 'v1a'] as const;
export type CheckName = (typeof CHECKS)[number];

export interface Check {
  readonly name: CheckName;
  readonly ok: boolean;
  /** A description of what was found, what was expected and what helps. Never the secret itself. */
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

/** A message and key that may have been signed: their HMAC-SHA256 is compared with the signatures. */
export interface Form {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly message: Uint8Array<ArrayBuffer>;
  /** The changes that were undone; none in the request as it is. */
  readonly undone: readonly Undone[];
}

export interface Given {
  readonly request: CapturedRequest;
  readonly secret: string;
  /** Unix time. */
  readonly nowSeconds: number;
  readonly toleranceSeconds: number;
}

const SCHEME = authorizationOf('');
const MARK = 'whsec_';
const VERSION = 'v1,';
const SECONDS = /^\d{1,12}$/;
const UNDONE_TOGETHER_MAX = 3;
/** Bounds the work for a request that is not authentic. */
const FORMS_MAX = 500;
const encoder = new TextEncoder();

/** Returns a secret's key: the decoded base64 after `whsec_`, or the bytes of a text that a merchant chose. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  return secret.startsWith(MARK) ? base64Bytes(secret.slice(MARK.length)) : encoder.encode(secret);
}

/** Returns the signatures of this version that a request has, in base64: several while keys change. */
export function signaturesOf({ headers }: CapturedRequest): readonly string[] {
  const all = (headers['webhook-signature'] ?? '').split(/\s+/);
  return all.filter((one) => one.startsWith(VERSION)).map((one) => one.slice(VERSION.length));
}

/** Compares in constant time for equal lengths; the length itself is not secret. */
export function areEqual(left: string, right: string): boolean {
  let differing = left.length ^ right.length;
  for (let at = 0; at < left.length; at++) differing |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return differing === 0;
}

/** Yields what may have been signed: first the request as it is, then with changes undone, the fewest first. */
export function* formsOf(request: CapturedRequest, secret: string): Generator<Form> {
  const { headers, body } = request;
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  if (!id || !timestamp || signaturesOf(request).length === 0) return;
  if (SECONDS.test(timestamp)) yield formOf(secret, id, timestamp, body, []);
  const asIs = <Value>(value: Value): Variant<Value> => ({ value, undone: [] });
  const secrets = [asIs(secret), ...secretVariants(secret), ...secretInHeaders(headers, secret)];
  const ids = [asIs(id), ...idVariants(id, headers, body)];
  const times = [asIs(timestamp), ...timestampVariants(timestamp)].filter(({ value }) => SECONDS.test(value));
  const bodies = [asIs(body), ...bodyVariants(body)];
  const all = secrets.flatMap((s) =>
    ids.flatMap((i) =>
      times.flatMap((t) =>
        bodies.map((b) => ({ s, i, t, b, undone: [...s.undone, ...i.undone, ...t.undone, ...b.undone] })),
      ),
    ),
  );
  const few = all.filter(({ undone }) => undone.length > 0 && undone.length <= UNDONE_TOGETHER_MAX);
  for (const { s, i, t, b, undone } of few
    .sort((x, y) => x.undone.length - y.undone.length)
    .slice(0, FORMS_MAX))
    yield formOf(s.value, i.value, t.value, b.value, undone);
}

function formOf(
  secret: string,
  id: string,
  timestamp: string,
  body: Uint8Array,
  undone: readonly Undone[],
): Form {
  const start = encoder.encode(`${id}.${Number(timestamp)}.`);
  const message = new Uint8Array(start.length + body.length);
  message.set(start);
  message.set(body, start.length);
  return { key: keyOf(secret), message, undone };
}

/** A webhook carries the secret of its sender, which tells whether the check has another one. */
function secretInHeaders(headers: CapturedRequest['headers'], secret: string): readonly Variant[] {
  const authorization = headers.authorization ?? '';
  if (!authorization.startsWith(SCHEME) || authorization === REDACTED) return [];
  const value = authorization.slice(SCHEME.length);
  const says =
    `it was made with the secret that Authorization carries (${secretHint(value)}), and yours is another one ` +
    `(${secretHint(secret)}): was it rotated, or is it another endpoint’s?`;
  return value === secret ? [] : [{ value, undone: [says] }];
}

/**
 * Judges a request. `made`: the form whose HMAC is among its signatures; undefined when there is none. `platform`: the check
 * of the platform's own signature, by who asks for it.
 */
export function judge(given: Given, made: Form | undefined, platform?: Check): Verdict {
  const { headers } = given.request;
  const checks = [
    checkAuthorization(headers.authorization, given.secret),
    checkSignature(given, made),
    checkTimestamp(headers, given),
    ...(platform ? [platform] : []),
  ];
  return { authentic: checks.every((check) => check.ok), checks };
}

function checkAuthorization(header: string | undefined, secret: string): Check {
  const check = (ok: boolean, detail: string): Check => ({ name: 'authorization', ok, detail });
  if (header === undefined) return check(false, 'there is no Authorization header');
  if (header === REDACTED)
    return check(true, 'the secret in Authorization is hidden here, and was not compared');
  if (!header.startsWith(SCHEME)) return check(false, `Authorization does not start with "${SCHEME}"`);
  if (!areEqual(header.slice(SCHEME.length), secret)) {
    return check(false, 'Authorization carries another secret: was it rotated, or is it another endpoint’s?');
  }
  return check(true, 'Authorization carries the secret');
}

function checkSignature({ request, secret }: Given, made: Form | undefined): Check {
  const check = (ok: boolean, detail: string): Check => ({ name: 'signature', ok, detail });
  const { headers } = request;
  for (const name of ['webhook-id', 'webhook-signature', 'webhook-timestamp'])
    if (!headers[name]) return check(false, noHeader(headers, name));
  const all = (headers['webhook-signature'] ?? '').split(/\s+/);
  if (made?.undone.length === 0) {
    const among = all.length === 1 ? '' : `, one of ${all.length} signatures: one that matches is enough`;
    return check(true, `the signature matches id, timestamp and body${among}`);
  }
  if (made !== undefined) return check(false, `the signature does not match: ${made.undone.join('; and ')}`);
  if (!SECONDS.test(headers['webhook-timestamp'] ?? ''))
    return check(false, 'webhook-timestamp is not a number of seconds');
  return check(false, signatureFault(all) ?? `the signature does not match: ${hintOf(request, secret)}`);
}

const SIGNATURE_BYTES = 32;

/** Returns what is wrong with the form of all signatures. */
function signatureFault(all: readonly string[]): string | undefined {
  const known = all.filter((one) => one.startsWith(VERSION));
  if (known.length === 0)
    return `no signature has the version v1: webhook-signature must begin with "${VERSION}", and this begins with "${all[0]?.slice(0, 8)}"`;
  const isWhole = known.some((one) => base64Bytes(one.slice(VERSION.length)).length === SIGNATURE_BYTES);
  if (isWhole) return undefined;
  const hex = known.some((one) => /^v1,[0-9a-f]{64}$/i.test(one));
  return hex
    ? 'the signature is in hexadecimal: base64 was sent'
    : 'the signature is not whole: after "v1," come 44 characters of base64';
}

const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;

/** Returns the likeliest cause when no change that is known explains the signature. */
function hintOf({ body }: CapturedRequest, secret: string): string {
  const text = textOf(body);
  if (secret.startsWith(MARK)) {
    const { length } = keyOf(secret);
    if (length < SECRET_BYTES_MIN || length > SECRET_BYTES_MAX)
      return `the secret is not whole: after ${MARK} comes the base64 of ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes, and yours has ${length}`;
  }
  if (body.length === 0) return 'the body is empty: did a parser read it before the check?';
  if (text === undefined) return 'the body is not UTF-8: it is compressed, cut off or encoded anew';
  if (/^\[object \w+\]$/.test(text.trim()))
    return `the body is "${text.trim()}", a parsed object made a text: take the bytes before the parser`;
  if (text.includes('\ufffd'))
    return 'the body has the replacement character �, which stands for bytes that were not UTF-8: it was cut or encoded anew';
  try {
    JSON.parse(text);
  } catch {
    return 'the body is not JSON: it is cut off, or something was put around it';
  }
  return 'another secret, or a changed body, id or timestamp';
}

/** Returns that a header is missing, and the name that stands in its place. */
function noHeader(headers: CapturedRequest['headers'], name: string): string {
  const bare = (text: string) =>
    text
      .replace(/^(?:http|x)[-_]/, '')
      .replace(/^svix/, 'webhook')
      .replace(/[-_]/g, '');
  const other = Object.keys(headers).find((key) => key !== name && bare(key) === bare(name));
  if (headers[name] === '') return `the ${name} header is empty`;
  if (other === undefined)
    return `there is no ${name} header: a proxy has dropped it, or not all headers are here`;
  return `there is no ${name} header, but one named "${other}": read it by the name ${name}`;
}

function checkTimestamp(headers: CapturedRequest['headers'], given: Given): Check {
  const check = (ok: boolean, detail: string): Check => ({ name: 'timestamp', ok, detail });
  const { nowSeconds, toleranceSeconds } = given;
  const text = headers['webhook-timestamp'];
  if (!text) return check(false, noHeader(headers, 'webhook-timestamp'));
  const [meant] = timestampVariants(text);
  if (!SECONDS.test(text))
    return check(false, meant?.undone[0] ?? 'webhook-timestamp is not a number of seconds');
  const ageSeconds = Math.round(nowSeconds - Number(text));
  const where = ageSeconds >= 0 ? `${ageSeconds} s old` : `${-ageSeconds} s in the future`;
  const ok = Math.abs(ageSeconds) <= toleranceSeconds;
  if (ok) return check(ok, `it is ${where}`);
  const why =
    ageSeconds > 0
      ? `by ${ageSeconds - toleranceSeconds} s too old: it was captured earlier, or somebody sends it again`
      : 'is the clock of the receiver behind?';
  return check(ok, `it is ${where}; at most ${toleranceSeconds} s are tolerated, ${why}`);
}
