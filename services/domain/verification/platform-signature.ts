/**
 * Verifies the signature `v1a` as a receiver must that relies on it: with the public keys of the platform, of which each may
 * have made it. Pure: who calls it does the Ed25519, on Node or in a browser.
 */
import { base64Bytes } from './base64.ts';
import type { CapturedRequest, Check } from './verification.ts';

/** A public key of the set at /.well-known/webhook-keys. */
export interface PlatformKey {
  readonly kid: string;
  /** base64url of 32 bytes */
  readonly x: string;
}

const VERSION = 'v1a,';
const KEY_CHARACTERS = 43;
const SIGNATURE_BYTES = 64;
const encoder = new TextEncoder();

/** Returns the Ed25519 keys of a JWK set. Throws TypeError, which says what is wrong, for what is no set. */
export function platformKeysIn(text: string): readonly PlatformKey[] {
  let set: { readonly keys?: unknown } | null;
  try {
    set = JSON.parse(text);
  } catch {
    throw new TypeError('it is not JSON');
  }
  if (!Array.isArray(set?.keys)) throw new TypeError('it is no JWK set: it has no list "keys"');
  return set.keys.flatMap((key: Partial<Record<string, unknown>> | null): readonly PlatformKey[] => {
    const { kty, crv, kid, x }: Partial<Record<string, unknown>> = key ?? {};
    // A set may have keys of other kinds, for others (RFC 7517 §5).
    if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || x.length !== KEY_CHARACTERS) return [];
    return [{ kid: typeof kid === 'string' ? kid : '', x }];
  });
}

/** The input of a verification: a key must verify one of the signatures over the message. */
interface PlatformSigned {
  readonly message: Uint8Array<ArrayBuffer>;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

/** Returns the message of a request and its signatures that may be right; none where it has none. */
export function platformSigned(request: CapturedRequest): PlatformSigned {
  const { headers, body } = request;
  const start = encoder.encode(`${headers['webhook-id'] ?? ''}.${headers['webhook-timestamp'] ?? ''}.`);
  const message = new Uint8Array(start.length + body.length);
  message.set(start);
  message.set(body, start.length);
  const signatures = ofVersion(request).map((one) => base64Bytes(one.slice(VERSION.length)));
  return { message, signatures: signatures.filter(({ length }) => length === SIGNATURE_BYTES) };
}

/** Returns whether a request has a signature of the platform's key, right or wrong. */
export function hasPlatformSignature(request: CapturedRequest): boolean {
  return ofVersion(request).length > 0;
}

function ofVersion({ headers }: CapturedRequest): readonly string[] {
  return (headers['webhook-signature'] ?? '').split(/\s+/).filter((one) => one.startsWith(VERSION));
}

/** Judges a request by the keys. `by`: the one that has verified a signature. */
export function checkPlatform(
  request: CapturedRequest,
  keys: readonly PlatformKey[],
  by: PlatformKey | undefined,
): Check {
  const check = (ok: boolean, detail: string): Check => ({ name: 'v1a', ok, detail });
  if (by) return check(true, `the platform has made it, with the key ${by.kid}`);
  if (keys.length === 0) return check(false, 'there is no public key of the platform to verify it with');
  if (!hasPlatformSignature(request))
    return check(
      false,
      'there is no signature v1a: the endpoint has none (public_key_signature), or somebody without the platform’s key has made the request',
    );
  if (platformSigned(request).signatures.length === 0)
    return check(false, 'the signature is not whole: after "v1a," come 88 characters of base64');
  const count = keys.length === 1 ? 'the one public key' : `none of the ${keys.length} public keys`;
  return check(
    false,
    `${count} ${keys.length === 1 ? 'does not verify it' : 'verifies it'}: the id, the timestamp or the body was changed, ` +
      'the set of keys is old or that of another environment, or somebody without the platform’s key has made it',
  );
}
