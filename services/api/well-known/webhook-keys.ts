import type { RequestHandler } from 'express';
import { publicKeySet } from '../../keys/key-schedule.ts';
import { type ApiContext, systemNow } from '../context.ts';
import { ApiError } from '../problem.ts';
import { sendDocument } from './send-document.ts';

/** Short beside the time for which a key is published before it signs, and short enough for a key that was stolen. */
const CACHED_SECONDS = 300;

type KeyContext = Pick<ApiContext, 'keyRing' | 'environment' | 'clock'>;

/** GET /.well-known/webhook-keys: the public keys of the signature v1a, for everybody (RFC 7517). */
export function getWebhookKeys({ keyRing, environment }: KeyContext): RequestHandler {
  return (_request, response) => {
    const set = publicKeySet(keyRing.signingKeys(environment), environment);
    const text = JSON.stringify(set);
    sendDocument(response, { type: 'application/jwk-set+json', text, maxAgeSeconds: CACHED_SECONDS });
  };
}

/** Throws when an endpoint is to have the signature v1a, and the platform has no key that makes it. */
export function requireSigningKey({ keyRing, environment, clock }: KeyContext, isAsked: boolean): void {
  if (!isAsked || keyRing.signer(environment, systemNow(clock))) return;
  const errors = [{ pointer: '/public_key_signature', code: 'not_allowed', detail: 'must be false for now' }];
  throw new ApiError('public_key_signature_unavailable', 'The platform has no signing key yet.', { errors });
}
