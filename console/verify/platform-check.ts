import {
  checkPlatform,
  hasPlatformSignature,
  type PlatformKey,
  platformSigned,
} from '../../services/domain/verification/platform-signature.ts';
import type { Given } from '../../services/domain/verification/verification.ts';

const ED25519 = 'Ed25519';

/** Returns the check of the signature v1a; undefined where the request has none, or this browser knows no Ed25519. */
export async function platformCheck({ request }: Given, keys: readonly PlatformKey[]) {
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
