/** Standard Webhooks asks for 24 to 64 bytes; more than the hash's 32 adds nothing. */
const BYTES_MIN = 24;
const BYTES_MAX = 64;

/** A new signing secret of random bytes (24 to 64, 32 is usual): `whsec_` and their base64. */
export function newSecret(random: Uint8Array): string {
  if (random.length < BYTES_MIN || random.length > BYTES_MAX) {
    throw new RangeError(
      `a signing secret needs ${BYTES_MIN} to ${BYTES_MAX} random bytes, not ${random.length}`,
    );
  }
  return `whsec_${Buffer.from(random).toString('base64')}`;
}

/** What may be shown of a secret: its last four characters, so that a merchant can tell which one is in force. */
export function secretHint(secret: string): string {
  // Padding tells nothing, so it does not take a place among the four.
  return `…${secret.replace(/=+$/, '').slice(-4)}`;
}
