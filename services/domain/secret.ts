import { areGuessableBytes, isGuessable } from './access/secret-variety.ts';
import { withoutTrailing } from './text/trimmed.ts';

/** Standard Webhooks asks for 24 to 64 bytes; more than the hash's 32 adds nothing. */
const BYTES_MIN = 24;
const BYTES_MAX = 64;
const MARK = 'whsec_';
/** Limits of a secret chosen by a merchant: characters that an HTTP header carries unchanged. */
const CHARACTERS_MIN = 16;
const CHARACTERS_MAX = 128;
const CHOSEN = /^[!-~]*$/;

const GUESSABLE =
  'must not be easy to guess: it repeats itself, is a sequence, or has few different characters; draw it at random, ' +
  'as with: openssl rand -hex 24';

/** Returns a new signing secret from random bytes (24 to 64, usually 32): `whsec_` and their base64. */
export function newSecret(random: Uint8Array): string {
  if (random.length < BYTES_MIN || random.length > BYTES_MAX) {
    throw new RangeError(
      `a signing secret needs ${BYTES_MIN} to ${BYTES_MAX} random bytes, not ${random.length}`,
    );
  }
  return `${MARK}${Buffer.from(random).toString('base64')}`;
}

/**
 * Returns why a secret chosen by a merchant is invalid, or null (docs/decisions.md, "The single webhook of 2.2.8").
 * Every library of Standard Webhooks decodes a secret with our prefix like ours, so it must hold as many bytes, or its
 * signatures could be forged.
 */
export function chosenSecretFault(secret: string): string | null {
  if (!CHOSEN.test(secret) || secret.length < CHARACTERS_MIN || secret.length > CHARACTERS_MAX) {
    return `must be ${CHARACTERS_MIN} to ${CHARACTERS_MAX} visible ASCII characters, without spaces`;
  }
  if (!secret.startsWith(MARK)) return isGuessable(secret) ? GUESSABLE : null;
  const encoded = secret.slice(MARK.length);
  const bytes = Buffer.from(encoded, 'base64');
  const isBase64 = withoutTrailing(bytes.toString('base64'), '=') === withoutTrailing(encoded, '=');
  if (!isBase64 || bytes.length < BYTES_MIN || bytes.length > BYTES_MAX)
    return `must be, after ${MARK}, the base64 of ${BYTES_MIN} to ${BYTES_MAX} bytes`;
  return areGuessableBytes(bytes) || isGuessable(encoded) ? GUESSABLE : null;
}

/** The number of characters that are never shown: the hidden part must be as hard to guess as the shortest secret. */
const HIDDEN_MIN = CHARACTERS_MIN;
const SHOWN_MAX = 4;

/**
 * Returns the part of a secret that may be shown, so that a merchant can see which one is in use: its last four
 * characters, or fewer of a short one.
 */
export function secretHint(secret: string): string {
  // Padding is the same in every secret, so it does not count.
  const unpadded = withoutTrailing(secret, '=');
  const shown = Math.max(0, Math.min(SHOWN_MAX, unpadded.length - HIDDEN_MIN));
  return `…${unpadded.slice(unpadded.length - shown)}`;
}
