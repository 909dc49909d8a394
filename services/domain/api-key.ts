import { createHash } from 'node:crypto';

/** `platform`: the backend of the platform, which acts for all of its merchants. */
export type KeyKind = 'merchant' | 'producer' | 'platform';
type KeyEnvironment = 'sandbox' | 'production';

/** The beginning of a key, and what it says. */
interface KeyForm {
  readonly prefix: string;
  readonly kind: KeyKind;
  readonly environment: KeyEnvironment;
}

/**
 * API keys (docs/decisions.md, "API keys"): prefix, 32 random bytes in base62, a checksum of six characters.
 * The prefix names the environment, so a key used in the wrong one gets an error that says so. The checksum
 * distinguishes a mistyped key from an unknown one without reading the store.
 */
const FORMS: readonly KeyForm[] = [
  { prefix: 'sk_sandbox_', kind: 'merchant', environment: 'sandbox' },
  { prefix: 'sk_live_', kind: 'merchant', environment: 'production' },
  { prefix: 'pk_sandbox_', kind: 'producer', environment: 'sandbox' },
  { prefix: 'pk_live_', kind: 'producer', environment: 'production' },
  { prefix: 'plk_sandbox_', kind: 'platform', environment: 'sandbox' },
  { prefix: 'plk_live_', kind: 'platform', environment: 'production' },
];

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
/** 62^43 is the first power of 62 above 2^256. */
const RANDOM_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
const REST = new RegExp(`^[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

export type ParsedApiKey =
  | {
      readonly ok: true;
      readonly kind: KeyKind;
      readonly environment: KeyEnvironment;
      readonly hash: Uint8Array;
    }
  /** A description of what is wrong with its form. Never contains the key. */
  | { readonly ok: false; readonly detail: string };

/** Makes a key from 32 random bytes. Throws RangeError for any other number of bytes. */
export function newApiKey(kind: KeyKind, environment: KeyEnvironment, bytes: Uint8Array): string {
  if (bytes.length !== RANDOM_BYTES)
    throw new RangeError(`an API key is made of ${RANDOM_BYTES} random bytes`);
  const number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  const form = FORMS.find((one) => one.kind === kind && one.environment === environment);
  const key = `${form?.prefix}${base62(number, RANDOM_CHARACTERS)}`;
  return key + checksum(key);
}

/** Checks a key's form and checksum. The store decides, by its hash, whether the key exists. */
export function parseApiKey(text: string): ParsedApiKey {
  const form = formOf(text);
  if (form === undefined) {
    return { ok: false, detail: `a key begins with ${FORMS.map(({ prefix }) => prefix).join(', ')}` };
  }
  const { prefix, kind, environment } = form;
  if (!REST.test(text.slice(prefix.length))) {
    const length = prefix.length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;
    return { ok: false, detail: `a ${prefix}… key has ${length} characters, letters and digits` };
  }
  const end = text.length - CHECKSUM_CHARACTERS;
  if (checksum(text.slice(0, end)) !== text.slice(end)) {
    return { ok: false, detail: 'its checksum is wrong: it was mistyped or cut off' };
  }
  return { ok: true, kind, environment, hash: hashApiKey(text) };
}

/** Returns the environment that a key names, from the key or its hint; null where that is none of a key. */
export function environmentOfKey(keyOrHint: string): KeyEnvironment | null {
  return formOf(keyOrHint)?.environment ?? null;
}

function formOf(text: string): KeyForm | undefined {
  return FORMS.find(({ prefix }) => text.startsWith(prefix));
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
  const prefix = formOf(key)?.prefix ?? '';
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
