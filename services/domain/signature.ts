import { hash } from 'node:crypto';

const MARK = 'whsec_';
/** SHA-256's block and digest, bytes. */
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/** A secret prepared for signing: its two padded keys (RFC 2104 §2), the outer with room for the inner digest. */
export interface SigningKey {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

/**
 * Returns a secret's key (Standard Webhooks): the decoded base64 after `whsec_`, or the secret's own bytes when a
 * merchant chose it (the single-URL operation of 2.2.8). Decode once per endpoint version.
 */
export function signingKey(secret: string): SigningKey {
  const bytes = secret.startsWith(MARK)
    ? Buffer.from(secret.slice(MARK.length), 'base64')
    : Buffer.from(secret, 'utf8');
  const key = bytes.length > BLOCK_BYTES ? hash('sha256', bytes, 'buffer') : bytes;
  const padded = (pad: number, room: number) => {
    const block = Buffer.alloc(BLOCK_BYTES + room, pad);
    for (const [at, byte] of key.entries()) block[at] = byte ^ pad;
    return block;
  };
  return { inner: padded(0x36, 0), outer: padded(0x5c, DIGEST_BYTES) };
}

/** The input of the hash. All messages that fit share this buffer, because every attempt signs one. */
let message = Buffer.alloc(16 * 1024);
/** A UTF-16 unit takes three bytes of UTF-8 at most. */
const BYTES_PER_UNIT_MAX = 3;

/**
 * Returns the `webhook-signature` of one attempt: `v1,` and the base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`.
 * Computed from two hashes rather than with `createHmac`, which allocates an object outside the heap for every
 * signature; creating and collecting it costs as much as the hashing.
 */
export function signWith(
  key: SigningKey,
  webhookId: string,
  timestampSeconds: number,
  body: Uint8Array | string,
): string {
  const head = `${webhookId}.${timestampSeconds}.`;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const room = BLOCK_BYTES + head.length * BYTES_PER_UNIT_MAX + bytes.length;
  if (message.length < room) message = Buffer.alloc(room);
  key.inner.copy(message);
  const start = BLOCK_BYTES + message.write(head, BLOCK_BYTES);
  message.set(bytes, start);
  const signed = message.subarray(0, start + bytes.length);
  key.outer.write(hash('sha256', signed, 'binary'), BLOCK_BYTES, 'latin1');
  return `v1,${hash('sha256', key.outer, 'base64')}`;
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
