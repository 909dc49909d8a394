import {
  areEqual,
  type Form,
  formsOf,
  type Given,
  judge,
  signaturesOf,
  type Verdict,
} from '../../services/domain/verification/verification.ts';

const HMAC = { name: 'HMAC', hash: 'SHA-256' };

export interface Answer {
  readonly verdict: Verdict;
  /** A change that is known explains why the signature does not match. */
  readonly isExplained: boolean;
}

/** Verifies a request in the browser (`judge` has the rules). The secret does not leave the page. */
export async function verifyHere(given: Given): Promise<Answer> {
  const form = await signedForm(given);
  return { verdict: judge(given, form), isExplained: form !== undefined };
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
