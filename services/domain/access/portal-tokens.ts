import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The tokens of the console (docs/decisions.md, "Console sign-in"): 32 random bytes in base64url. A link has one, and the session
 * that it opens has another, in a cookie. The store has their SHA-256 only.
 */
export const PORTAL_TOKEN_BYTES = 32;
const FORM = /^[\w-]{43}$/;

/** Returns the token of random bytes. */
export function portalToken(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

/** Returns the form in which a token is stored; undefined when the text is no token. */
export function portalTokenHash(token: string): Uint8Array | undefined {
  return FORM.test(token) ? createHash('sha256').update(token).digest() : undefined;
}

/**
 * Returns the text that a page of the console sends with each change: another site, which has the cookie sent along, cannot
 * know it. It is made of the session's token, so nothing has to be stored.
 */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('hookrail console: change').digest('base64url');
}

export function isCsrfToken(token: string, given: string | undefined): boolean {
  const [expected, actual] = [Buffer.from(csrfTokenOf(token)), Buffer.from(given ?? '')];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
