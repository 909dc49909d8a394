import { createHash } from 'node:crypto';

/**
 * API keys (docs/decisions.md, "API keys"): prefix, 32 random bytes in base62, a checksum of six characters.
 * The prefix names the environment, so a key used in the wrong one gets an error that says so. The checksum
 * distinguishes a mistyped key from an unknown one without reading the store.
 */
const PREFIXES = { sandbox: 'sk_sandbox_', production: 'sk_live_', producer: 'pk_' } as const;
/** The kind of a key, from its prefix: a merchant's key of one environment, or a producer's. */
export type KeyPrefix = keyof typeof PREFIXES;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
/** 62^43 is the first power of 62 above 2^256. */
const RANDOM_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
const REST = new RegExp(`^[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

export type ParsedApiKey =
  | { readonly ok: true; readonly prefix: KeyPrefix; readonly hash: Uint8Array }
  /** A description of what is wrong with its form. Never contains the key. */
  | { readonly ok: false; readonly detail: string };

/**
 * Makes a key from 32 random bytes; a producer's key has the same prefix in every environment. Throws RangeError for
 * any other number of bytes.
 */
export function newApiKey(
  kind: 'merchant' | 'producer',
  environment: 'sandbox' | 'production',
  bytes: Uint8Array,
): string {
  if (bytes.length !== RANDOM_BYTES)
    throw new RangeError(`an API key is made of ${RANDOM_BYTES} random bytes`);
  const number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  const prefix = PREFIXES[kind === 'producer' ? 'producer' : environment];
  const key = `${prefix}${base62(number, RANDOM_CHARACTERS)}`;
  return key + checksum(key);
}

/** Checks a key's form and checksum. The store decides, by its hash, whether the key exists. */
export function parseApiKey(text: string): ParsedApiKey {
  // At most one matches: no prefix begins with another.
  const prefix = (Object.keys(PREFIXES) as KeyPrefix[]).find((name) => text.startsWith(PREFIXES[name]));
  if (prefix === undefined) {
    return { ok: false, detail: `a key begins with ${Object.values(PREFIXES).join(', ')}` };
  }
  if (!REST.test(text.slice(PREFIXES[prefix].length))) {
    const length = PREFIXES[prefix].length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;
    return { ok: false, detail: `a ${PREFIXES[prefix]}… key has ${length} characters, letters and digits` };
  }
  const end = text.length - CHECKSUM_CHARACTERS;
  if (checksum(text.slice(0, end)) !== text.slice(end)) {
    return { ok: false, detail: 'its checksum is wrong: it was mistyped or cut off' };
  }
  return { ok: true, prefix, hash: hashApiKey(text) };
}

/**
 * Returns the form in which a key is stored: its SHA-256. The key has 256 random bits, so a slow hash would add
 * nothing.
 */
export function hashApiKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest();
}

/**
 * Returns enough to recognise a key in a list, but far too little to guess it: prefix, four characters, the last four.
 */
export function apiKeyHint(key: string): string {
  const prefix = Object.values(PREFIXES).find((candidate) => key.startsWith(candidate)) ?? '';
  return `${key.slice(0, prefix.length + 4)}…${key.slice(-4)}`;
}

function checksum(text: string): string {
  const digest = createHash('sha256').update(text).digest();
  return base62(BigInt(digest.readUInt32BE(0)), CHECKSUM_CHARACTERS);
}

function base62(number: bigint, width: number): string {
  let rest = number;
  let text = '';
  for (let place = 0; place < width; place += 1) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
