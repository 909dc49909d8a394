import { usage } from '../exit.ts';

/**
 * Returns a secret as it goes into a header. Throws a usage failure, which does not show it, for one with characters that
 * a header cannot carry: the HTTP client's own error would print it.
 */
export function headerSecret(what: string, secret: string): string {
  if (/^[!-~]+$/.test(secret)) return secret;
  throw usage(`${what} has a space, a line break or a character outside ASCII: copy the key alone`);
}
