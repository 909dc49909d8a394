import { createHmac, createPublicKey, verify } from 'node:crypto';
import {
  checkPlatform,
  type PlatformKey,
  platformSigned,
} from '../../services/domain/verification/platform-signature.ts';
import {
  areEqual,
  type CapturedRequest,
  type Form,
  formsOf,
  judge,
  signaturesOf,
  TOLERANCE_SECONDS_DEFAULT,
  type Verdict,
} from '../../services/domain/verification/verification.ts';

/**
 * Verifies a request on Node (`judge` has the rules). `nowSeconds`: unix time. `platformKeys`: of the platform, where a
 * receiver relies on its signature.
 */
export function verifyRequest(
  request: CapturedRequest,
  secret: string,
  nowSeconds: number,
  toleranceSeconds: number = TOLERANCE_SECONDS_DEFAULT,
  platformKeys?: readonly PlatformKey[],
): Verdict {
  const platform = platformKeys && checkPlatform(request, platformKeys, signer(request, platformKeys));
  return judge({ request, secret, nowSeconds, toleranceSeconds }, signedForm(request, secret), platform);
}

function signedForm(request: CapturedRequest, secret: string): Form | undefined {
  const signatures = signaturesOf(request);
  for (const form of formsOf(request, secret)) {
    const made = createHmac('sha256', form.key).update(form.message).digest('base64');
    if (signatures.some((signature) => areEqual(signature, made))) return form;
  }
  return undefined;
}

/** Returns the key that has made one of the signatures v1a. */
function signer(request: CapturedRequest, keys: readonly PlatformKey[]): PlatformKey | undefined {
  const { message, signatures } = platformSigned(request);
  return keys.find(({ x }) => {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return signatures.some((signature) => verify(null, message, key, signature));
  });
}
