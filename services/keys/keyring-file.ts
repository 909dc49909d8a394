import { createHash, randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../messages/error-message.ts';
import { type SigningKey, signingKeysIn, signingText } from './signing-keys.ts';

/**
 * The key ring's file: `{"active": "k1", "keys": {"k1": "<base64 of 32 bytes>"}, "signing": […]}`; the last are the
 * platform's signing keys (signing-keys.ts), if it has any. It is replaced as a whole, never edited in place: a concurrent
 * reader gets the old one or the new one.
 */

const KEY_BYTES = 32;
const MODE = 0o600;
/** Characters of a fingerprint in a new key's id, so that rings changed separately do not give two keys one id. */
const ID_FINGERPRINT_CHARACTERS = 6;
const FINGERPRINT_CHARACTERS = 16;

export interface RingKeys {
  readonly active: string;
  readonly keys: ReadonlyMap<string, Buffer>;
  readonly signing: readonly SigningKey[];
}

/** The key ring cannot be used, or not in this way; the message names the file or the key and says what to do. */
export class KeyRingError extends Error {
  override readonly name = 'KeyRingError';
}

/** Reads a ring. Throws KeyRingError when it is missing or malformed. */
export function readRing(file: string): RingKeys {
  if (!existsSync(file)) {
    throw new KeyRingError(
      `key ring ${file} does not exist; make one with: hookrail operator keyring create --out ${file}`,
    );
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new KeyRingError(`key ring ${file} cannot be read (${codeOf(error, String(error))})`);
  }
  return parseRing(text, file);
}

/** Parses a ring's text; `source` names it in errors. */
export function parseRing(text: string, source: string): RingKeys {
  const fail = (what: string) => new KeyRingError(`key ring ${source} is malformed: ${what}`);
  let ring: { active?: unknown; keys?: unknown; signing?: unknown };
  try {
    ring = JSON.parse(text);
  } catch {
    throw fail('it is not JSON');
  }
  if (typeof ring?.active !== 'string') throw fail('"active" must name a key');
  if (typeof ring.keys !== 'object' || ring.keys === null) throw fail('"keys" must be an object');
  const keys = new Map<string, Buffer>();
  for (const [id, value] of Object.entries(ring.keys)) {
    const key = typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0);
    if (key.length !== KEY_BYTES) throw fail(`key "${id}" must be the base64 of ${KEY_BYTES} bytes`);
    keys.set(id, key);
  }
  if (!keys.has(ring.active)) throw fail(`"active" names "${ring.active}", which is not among its keys`);
  return { active: ring.active, keys, signing: signingKeysIn(ring.signing, fail) };
}

/** Writes a new ring with one key that seals, readable by its owner only. Throws EEXIST: it never overwrites. */
export function createRing(file: string, signing: readonly SigningKey[] = []): void {
  const keys = new Map([['k1', randomBytes(KEY_BYTES)]]);
  writeFileSync(file, textOf({ active: 'k1', keys, signing }), { mode: MODE, flag: 'wx' });
}

/** Adds a key, which seals from now on; all others still open. Returns its id. */
export function addKey(file: string): string {
  const { keys, ...ring } = readRing(file);
  const key = randomBytes(KEY_BYTES);
  const id = `k${keys.size + 1}-${fingerprint(key).slice(0, ID_FINGERPRINT_CHARACTERS)}`;
  replaceRing(file, { ...ring, active: id, keys: new Map([...keys, [id, key]]) });
  return id;
}

/** Removes a key. Throws KeyRingError when it is the active one, or unknown. */
export function removeKey(file: string, id: string): void {
  const { keys, ...ring } = readRing(file);
  const { active } = ring;
  if (!keys.has(id)) {
    throw new KeyRingError(`key ring ${file} has no key "${id}": it has ${[...keys.keys()].join(', ')}`);
  }
  if (id === active) {
    throw new KeyRingError(
      `key "${id}" is the active one of key ring ${file}: add another key first (keyring add), then rewrap`,
    );
  }
  replaceRing(file, { ...ring, keys: new Map([...keys].filter(([other]) => other !== id)) });
}

/** Replaces the signing keys by what `change` makes of them. What it throws leaves the file as it is. */
export function changeSigningKeys(
  file: string,
  change: (keys: readonly SigningKey[]) => readonly SigningKey[],
): void {
  const ring = readRing(file);
  replaceRing(file, { ...ring, signing: change(ring.signing) });
}

/** Returns a short hash by which keys can be compared across files without revealing them. */
export function fingerprint(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('hex').slice(0, FINGERPRINT_CHARACTERS);
}

/**
 * Writes a file beside it, makes it durable and renames it over the old one, keeping its owner, so that the service
 * can still read it after root changed it. The file beside is also the lock: two changes at once would lose one of the
 * keys.
 */
function replaceRing(path: string, ring: RingKeys): void {
  const file = realpathSync(path);
  if (!statSync(file).isFile())
    throw new KeyRingError(`key ring ${file} is not a regular file: it cannot be changed`);
  const fresh = `${file}.new`;
  let handle: number;
  try {
    handle = openSync(fresh, 'wx', MODE);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw notReplaced(file, error);
    throw new KeyRingError(
      `${fresh} exists: the key ring is being changed by another process; if none is running, remove that file`,
    );
  }
  try {
    writeFileSync(handle, textOf(ring));
    fsyncSync(handle);
    closeSync(handle);
    keepOwner(file, fresh);
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw notReplaced(file, error);
  }
  syncDirectory(dirname(file));
}

function keepOwner(file: string, fresh: string): void {
  const before = statSync(file);
  const { uid, gid } = statSync(fresh);
  if (before.uid !== uid || before.gid !== gid) chownSync(fresh, before.uid, before.gid);
}

/** A new name is durable once its directory is. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function notReplaced(file: string, error: unknown): KeyRingError {
  return new KeyRingError(
    `key ring ${file} cannot be replaced (${codeOf(error, String(error))}); it is as it was`,
  );
}

function textOf({ active, keys, signing }: RingKeys): string {
  const encoded = Object.fromEntries([...keys].map(([id, key]) => [id, key.toString('base64')]));
  const written = signing.length === 0 ? {} : { signing: signingText(signing) };
  return `${JSON.stringify({ active, keys: encoded, ...written }, null, 2)}\n`;
}
