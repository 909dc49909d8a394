import { sign } from '../../services/domain/signature.ts';
import { authorizationOf } from '../../services/domain/webhook-request.ts';

export interface SignedRequest {
  readonly secret: string;
  /** The webhook-id. */
  readonly id: string;
  /** Unix time. */
  readonly timestampSeconds: number;
  readonly body: Uint8Array | string;
}

/** Returns the headers that make a body a webhook: credential, id, time and signature. */
export function signedHeaders({ secret, id, timestampSeconds, body }: SignedRequest): Record<string, string> {
  return {
    'content-type': 'application/json',
    authorization: authorizationOf(secret),
    'webhook-id': id,
    'webhook-timestamp': `${timestampSeconds}`,
    'webhook-signature': sign(secret, id, timestampSeconds, body),
  };
}
