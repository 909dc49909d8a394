/**
 * The order of the platform's signing keys, by which a key takes the place of another without a pause: every key is
 * published from the moment it exists, signs from its own time on until the next one's, and stays published until an
 * operator retires it. Every process that has the same keys decides alike, whenever it got them.
 */

export interface Scheduled {
  /** An environment signs with its own keys only. */
  readonly environment: string;
  /** When it begins to sign, milliseconds since the epoch. */
  readonly signsFrom: number;
}

/**
 * - `next`: published, and does not sign yet.
 * - `signing`: the one that signs.
 * - `former`: published, so that what it has signed can still be verified.
 */
type SigningState = 'next' | 'signing' | 'former';

/** How long the next key is published before it signs, unless the operator says otherwise. */
export const LEAD_HOURS_DEFAULT = 48;
/** How long a key stays published after it signed last: longer than a receiver takes to look at what it has kept. */
export const FORMER_MS_MIN = 24 * 3600 * 1000;

/** Returns the keys of an environment in the order in which they sign. */
export function keysOf<Key extends Scheduled>(keys: readonly Key[], environment: string): readonly Key[] {
  return keys
    .filter((key) => key.environment === environment)
    .sort((one, other) => one.signsFrom - other.signsFrom);
}

/** Returns the key of an environment that signs at a time; undefined where it has none yet. */
export function signerAt<Key extends Scheduled>(
  keys: readonly Key[],
  environment: string,
  at: number,
): Key | undefined {
  return keysOf(keys, environment).findLast(({ signsFrom }) => signsFrom <= at);
}

/** Returns the state of each key of an environment, and until when it signs (null: no other one is there yet). */
export function statesAt<Key extends Scheduled>(
  keys: readonly Key[],
  environment: string,
  at: number,
): readonly { readonly key: Key; readonly state: SigningState; readonly signsUntil: number | null }[] {
  const inOrder = keysOf(keys, environment);
  const signer = signerAt(keys, environment, at);
  return inOrder.map((key, index) => {
    const state = key === signer ? 'signing' : key.signsFrom > at ? 'next' : 'former';
    return { key, state, signsUntil: inOrder[index + 1]?.signsFrom ?? null };
  });
}

/** A public key as RFC 8037 writes it. */
interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly alg: 'EdDSA';
  readonly use: 'sig';
  /** The thumbprint of the key (RFC 7638): it belongs to this key and to no other one. */
  readonly kid: string;
  /** base64url of 32 bytes */
  readonly x: string;
}

/** Returns the set of an environment's public keys (RFC 7517): the one that signs longest first, the next one last. */
export function publicKeySet(
  keys: readonly (Scheduled & { readonly kid: string; readonly x: string })[],
  environment: string,
): { readonly keys: readonly PublicJwk[] } {
  const jwk = (key: { readonly kid: string; readonly x: string }): PublicJwk => ({
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'EdDSA',
    use: 'sig',
    kid: key.kid,
    x: key.x,
  });
  return { keys: keysOf(keys, environment).map(jwk) };
}
