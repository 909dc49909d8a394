import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { type Scheduled, statesAt } from './key-schedule.ts';

/** The Ed25519 key pairs of a key ring, with which the platform signs webhooks beside their secret. */

const SEED_BYTES = 32;
/** The bytes before the seed in PKCS #8 (RFC 8410 §7). */
const PKCS8_START = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface SigningKey extends Scheduled {
  /** The thumbprint of the public key (RFC 7638). */
  readonly kid: string;
  /** The public key, base64url. */
  readonly x: string;
  /** The 32 bytes that the private key is made of. */
  readonly seed: Buffer;
}

/** A key of the ring's file. Its id is not written: it follows from the seed. */
interface Written {
  readonly environment: string;
  readonly signsFrom: string;
  /** base64 */
  readonly seed: string;
}

/** Returns the private key. */
export function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_START, seed]), format: 'der', type: 'pkcs8' });
}

/** Makes a key pair that signs from a time on. */
export function newSigningKey(environment: string, signsFrom: number): SigningKey {
  return signingKeyOf({ environment, signsFrom, seed: randomBytes(SEED_BYTES) });
}

function signingKeyOf(of: Pick<SigningKey, 'environment' | 'signsFrom' | 'seed'>): SigningKey {
  const { x = '' } = createPublicKey(privateKeyOf(of.seed)).export({ format: 'jwk' });
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');
  return { ...of, kid, x };
}

/** Reads what a ring's file has as "signing". `fail` makes the error; each says what is wrong. */
export function signingKeysIn(value: unknown, fail: (what: string) => Error): readonly SigningKey[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw fail('"signing" must be a list');
  const keys = value.map((each: Partial<Written> | null, index) => {
    const { environment, signsFrom, seed }: Partial<Written> = each ?? {};
    const bytes = typeof seed === 'string' ? Buffer.from(seed, 'base64') : Buffer.alloc(0);
    const at = typeof signsFrom === 'string' ? Date.parse(signsFrom) : Number.NaN;
    const fault = (what: string) => fail(`signing key ${index + 1} ${what}`);
    if (typeof environment !== 'string' || environment === '') throw fault('must name its "environment"');
    if (bytes.length !== SEED_BYTES) throw fault(`must have as "seed" the base64 of ${SEED_BYTES} bytes`);
    if (Number.isNaN(at)) throw fault('must have as "signsFrom" a time such as 2030-01-31T08:00:00Z');
    return signingKeyOf({ environment, signsFrom: at, seed: bytes });
  });
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) throw fail('"signing" has one key twice');
  return keys;
}

/** Returns the keys as the ring's file has them. */
export function signingText(keys: readonly SigningKey[]): readonly Written[] {
  return keys.map(({ environment, signsFrom, seed }) => ({
    environment,
    signsFrom: new Date(signsFrom).toISOString(),
    seed: seed.toString('base64'),
  }));
}

/** A signing key for people: nothing of the private key. */
interface SigningKeyShown {
  readonly kid: string;
  readonly environment: string;
  readonly state: string;
  readonly signsFrom: string;
  readonly signsUntil: string | null;
  /** The public key as the libraries of Standard Webhooks take it. */
  readonly publicKey: string;
}

export function shownKeys(
  keys: readonly SigningKey[],
  environment: string,
  at: number,
): readonly SigningKeyShown[] {
  return statesAt(keys, environment, at).map(({ key, state, signsUntil }) => ({
    kid: key.kid,
    environment,
    state,
    signsFrom: new Date(key.signsFrom).toISOString(),
    signsUntil: signsUntil === null ? null : new Date(signsUntil).toISOString(),
    publicKey: `whpk_${Buffer.from(key.x, 'base64url').toString('base64')}`,
  }));
}
