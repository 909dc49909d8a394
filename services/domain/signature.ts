import { createHmac, createSecretKey, type KeyObject, sign as signBytes } from 'node:crypto';

const MARK = 'whsec_';

/**
 * Returns a secret's key (Standard Webhooks): the decoded base64 after `whsec_`, or the secret's own bytes when a
 * merchant chose it (the single-URL operation of 2.2.8). Decode once per endpoint version.
 */
export function signingKey(secret: string): KeyObject {
  return secret.startsWith(MARK)
    ? createSecretKey(secret.slice(MARK.length), 'base64')
    : createSecretKey(secret, 'utf8');
}

/** Returns the `webhook-signature` of one attempt: `v1,` and the base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`. */
export function signWith(
  key: KeyObject,
  webhookId: string,
  timestampSeconds: number,
  body: Uint8Array | string,
): string {
  const hmac = createHmac('sha256', key).update(`${webhookId}.${timestampSeconds}.`).update(body);
  return `v1,${hmac.digest('base64')}`;
}

/**
 * Returns the signature that only the platform can make: `v1a,` and the base64 Ed25519 of the same bytes as `v1`
 * (Standard Webhooks). Whoever has seen a request, and with it the secret, cannot make the next one.
 */
export function signAsPlatform(
  key: KeyObject,
  webhookId: string,
  timestampSeconds: number,
  body: Uint8Array | string,
): string {
  const start = Buffer.from(`${webhookId}.${timestampSeconds}.`);
  const message = Buffer.concat([start, typeof body === 'string' ? Buffer.from(body) : body]);
  return `v1a,${signBytes(null, message, key).toString('base64')}`;
}

/** Like `signWith`, for callers that sign once: decodes the secret each time. */
export function sign(
  secret: string,
  webhookId: string,
  timestampSeconds: number,
  body: Uint8Array | string,
): string {
  return signWith(signingKey(secret), webhookId, timestampSeconds, body);
}
