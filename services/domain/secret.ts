/** Standard Webhooks asks for 24 to 64 bytes; more than the hash's 32 adds nothing. */
const BYTES_MIN = 24;
const BYTES_MAX = 64;
const MARK = 'whsec_';
/** Of a secret that a merchant chose: what an HTTP header carries unchanged. */
const CHARACTERS_MIN = 16;
const CHARACTERS_MAX = 128;
const CHOSEN = new RegExp(`^[!-~]{${CHARACTERS_MIN},${CHARACTERS_MAX}}$`);

/** A new signing secret of random bytes (24 to 64, 32 is usual): `whsec_` and their base64. */
export function newSecret(random: Uint8Array): string {
  if (random.length < BYTES_MIN || random.length > BYTES_MAX) {
    throw new RangeError(
      `a signing secret needs ${BYTES_MIN} to ${BYTES_MAX} random bytes, not ${random.length}`,
    );
  }
  return `${MARK}${Buffer.from(random).toString('base64')}`;
}

/**
 * Why a secret that a merchant chose (docs/decisions.md, "API versions") cannot be one, or null. One that begins like
 * ours is decoded like ours by every library of Standard Webhooks: it must hold as many bytes, or its signatures could
 * be forged.
 */
export function chosenSecretFault(secret: string): string | null {
  if (!CHOSEN.test(secret)) {
    return `must be ${CHARACTERS_MIN} to ${CHARACTERS_MAX} visible ASCII characters, without spaces`;
  }
  if (!secret.startsWith(MARK)) return null;
  const encoded = secret.slice(MARK.length);
  const bytes = Buffer.from(encoded, 'base64');
  const isBase64 = bytes.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '');
  if (isBase64 && bytes.length >= BYTES_MIN && bytes.length <= BYTES_MAX) return null;
  return `one that begins with ${MARK} must go on with the base64 of ${BYTES_MIN} to ${BYTES_MAX} bytes`;
}

/** What may be shown of a secret: its last four characters, so that a merchant can tell which one is in force. */
export function secretHint(secret: string): string {
  // Padding tells nothing, so it does not take a place among the four.
  return `…${secret.replace(/=+$/, '').slice(-4)}`;
}
