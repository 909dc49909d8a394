import {
  checkPlatform,
  hasPlatformSignature,
  type PlatformKey,
  platformSigned,
} from '../../services/domain/verification/platform-signature.ts';
import {
  areEqual,
  type Form,
  formsOf,
  type Given,
  judge,
  signaturesOf,
  type Verdict,
} from '../../services/domain/verification/verification.ts';

const ED25519 = 'Ed25519';
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

export interface Answer {
  readonly verdict: Verdict;
  /** A change that is known explains why the signature does not match. */
  readonly isExplained: boolean;
}

/**
 * Verifies a request in the browser (`judge` has the rules). The secret does not leave the page. `keys`: those of the
 * platform, which has made a signature v1a where there is one.
 */
export async function verifyHere(given: Given, keys: readonly PlatformKey[] = []): Promise<Answer> {
  const form = await signedForm(given);
  return { verdict: judge(given, form, await platformCheck(given, keys)), isExplained: form !== undefined };
}

/** Returns the check of the signature v1a; undefined where the request has none, or this browser knows no Ed25519. */
async function platformCheck({ request }: Given, keys: readonly PlatformKey[]) {
  if (!hasPlatformSignature(request) || keys.length === 0) return undefined;
  const { message, signatures } = platformSigned(request);
  try {
    for (const one of keys) {
      const jwk = { kty: 'OKP', crv: ED25519, x: one.x };
      const key = await crypto.subtle.importKey('jwk', jwk, ED25519, false, ['verify']);
      for (const signature of signatures)
        if (await crypto.subtle.verify(ED25519, key, signature, message))
          return checkPlatform(request, keys, one);
    }
  } catch {
    return undefined;
  }
  return checkPlatform(request, keys, undefined);
}

async function signedForm({ request, secret }: Given): Promise<Form | undefined> {
  const signatures = signaturesOf(request);
  for (const form of formsOf(request, secret)) {
    if (form.key.length === 0) continue;
    const key = await crypto.subtle.importKey('raw', form.key, HMAC, false, ['sign']);
    const made = new Uint8Array(await crypto.subtle.sign(HMAC.name, key, form.message));
    const text = btoa(String.fromCharCode(...made));
    if (signatures.some((signature) => areEqual(signature, text))) return form;
  }
  return undefined;
}
