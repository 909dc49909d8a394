import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

const MARK = 'whsec_';

/**
 * The key a secret stands for (Standard Webhooks): the decoded base64 after `whsec_`, or the secret's own bytes
 * when a merchant chose it (the single-URL operation of 2.2.8, decisions §3). Decode once per endpoint version.
 */
export function signingKey(secret: string): KeyObject {
  const bytes = secret.startsWith(MARK)
    ? Buffer.from(secret.slice(MARK.length), 'base64')
    : Buffer.from(secret, 'utf8');
  return createSecretKey(bytes);
}

/** The `webhook-signature` of one attempt: `v1,` and the base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`. */
export function signWith(
  key: KeyObject,
  webhookId: string,
  timestampSeconds: number,
  body: Uint8Array | string,
): string {
  const digest = createHmac('sha256', key)
    .update(`${webhookId}.${timestampSeconds}.`)
    .update(body)
    .digest('base64');
  return `v1,${digest}`;
}

/** `signWith` for callers that sign once: decodes the secret each time. */
export function sign(
  secret: string,
  webhookId: string,
  timestampSeconds: number,
  body: Uint8Array | string,
): string {
  return signWith(signingKey(secret), webhookId, timestampSeconds, body);
}
