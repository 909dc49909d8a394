import { createHmac } from 'node:crypto';
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

/** Verifies a request on Node (`judge` has the rules). `nowSeconds`: unix time. */
export function verifyRequest(
  request: CapturedRequest,
  secret: string,
  nowSeconds: number,
  toleranceSeconds: number = TOLERANCE_SECONDS_DEFAULT,
): Verdict {
  return judge({ request, secret, nowSeconds, toleranceSeconds }, signedForm(request, secret));
}

function signedForm(request: CapturedRequest, secret: string): Form | undefined {
  const signatures = signaturesOf(request);
  for (const form of formsOf(request, secret)) {
    const made = createHmac('sha256', form.key).update(form.message).digest('base64');
    if (signatures.some((signature) => areEqual(signature, made))) return form;
  }
  return undefined;
}
