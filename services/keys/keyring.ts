import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { statSync } from 'node:fs';
import { keysOf, signerAt } from './key-schedule.ts';
import { createRing, KeyRingError, parseRing, type RingKeys, readRing } from './keyring-file.ts';
import { privateKeyOf, type SigningKey } from './signing-keys.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEAL_KEY_BYTES = 32;
/** The purpose for which the keys of records' seals are derived: another purpose has another key. */
const SEAL_PURPOSE = 'hookrail directory record seal';
/** The shortest time between two reads of the file for an unknown key: it is read while a delivery waits. */
const REREAD_MS = 1000;
/** How often the file is looked at while signing keys are used: a new one is published long before it signs. */
const LOOK_MS = 5000;

export interface Sealed {
  readonly keyId: string;
  readonly ciphertext: string;
}

/**
 * Seals secrets, stored and on streams, with AES-256-GCM and the keys of a ring file (keyring-file.ts): the active key
 * seals, every key opens. An unknown key is looked up in the file again, so a replaced file needs no restart. A key
 * once read is kept for as long as the process runs. The platform's signing keys are those that the file has now.
 */
export class KeyRing {
  readonly #file: string;
  #ring: RingKeys;
  /** Derived from the ring's keys (HKDF-SHA256), by their ids. */
  readonly #sealKeys = new Map<string, KeyObject>();
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #privateKeys = new WeakMap<SigningKey, KeyObject>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Tells one version of the file from another. */
  #seen = '';

  private constructor(file: string, ring: RingKeys) {
    this.#file = file;
    this.#ring = ring;
  }

  /** Reads a ring. Throws KeyRingError, naming the file and what to do, when it is missing or malformed. */
  static read(file: string): KeyRing {
    return new KeyRing(file, readRing(file));
  }

  /** Returns a ring without keys, for a process that neither seals nor opens a secret. The file is never read. */
  static empty(file: string): KeyRing {
    const ring = new KeyRing(file, { active: '', keys: new Map(), signing: [] });
    ring.#readAt = Number.POSITIVE_INFINITY;
    ring.#lookedAt = Number.POSITIVE_INFINITY;
    return ring;
  }

  /** Parses the ring's text; `file` names it in errors, and is read again for unknown keys. */
  static parse(text: string, file: string): KeyRing {
    return new KeyRing(file, parseRing(text, file));
  }

  /** Writes a new ring with one key that seals, readable by its owner only. Never overwrites. */
  static create(file: string): void {
    createRing(file);
  }

  /** The file it was read from, for messages. */
  get file(): string {
    return this.#file;
  }

  /** The key that seals. */
  get active(): string {
    return this.#ring.active;
  }

  /** Returns the key of directory records' seals that belongs to a key of the ring; undefined when that is missing. */
  sealKey(keyId: string): KeyObject | undefined {
    const known = this.#sealKeys.get(keyId);
    if (known) return known;
    const key = this.has(keyId) ? this.#ring.keys.get(keyId) : undefined;
    if (!key) return undefined;
    const derived = createSecretKey(
      new Uint8Array(hkdfSync('sha256', key, '', SEAL_PURPOSE, SEAL_KEY_BYTES)),
    );
    this.#sealKeys.set(keyId, derived);
    return derived;
  }

  /** Returns whether the key is there; reads the file again when it is unknown. */
  has(keyId: string): boolean {
    if (this.#ring.keys.has(keyId)) return true;
    const now = performance.now();
    if (now - this.#readAt < REREAD_MS) return false;
    this.#readAt = now;
    try {
      this.reread();
    } catch {
      // Missing or half-written now: the keys read before still open.
    }
    return this.#ring.keys.has(keyId);
  }

  /** Returns the platform's private key that signs at a time, milliseconds since the epoch; null when there is none. */
  signer(environment: string, at: number): KeyObject | null {
    this.#look();
    const signer = signerAt(this.#ring.signing, environment, at);
    if (!signer) return null;
    const known = this.#privateKeys.get(signer);
    if (known) return known;
    const key = privateKeyOf(signer.seed);
    this.#privateKeys.set(signer, key);
    return key;
  }

  /** Returns the platform's signing keys of an environment, in the order in which they sign, as the file has them now. */
  signingKeys(environment: string): readonly SigningKey[] {
    this.#look();
    return keysOf(this.#ring.signing, environment);
  }

  /** Reads the file again when it was replaced. While it cannot be read, the keys are those that were read last. */
  #look(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    try {
      const { ino, mtimeMs, size } = statSync(this.#file);
      const seen = `${ino} ${mtimeMs} ${size}`;
      if (seen === this.#seen) return;
      this.reread();
      this.#seen = seen;
    } catch {
      // Missing or half-written now: it is looked at again.
    }
  }

  /** Returns one line per missing key that endpoints need (its id, and the number of endpoints). */
  lacks(needed: Iterable<readonly [keyId: string, endpoints: number]>): string[] {
    return [...needed]
      .filter(([keyId]) => !this.has(keyId))
      .map(([keyId, endpoints]) => {
        const who = endpoints === 1 ? '1 endpoint needs' : `${endpoints} endpoints need`;
        return `key ring ${this.#file} lacks key "${keyId}", which ${who}`;
      });
  }

  /** Reads the file again. Throws KeyRingError, and changes nothing, when it cannot be used. */
  reread(): void {
    const { active, keys, signing } = readRing(this.#file);
    for (const [id, key] of keys) {
      const known = this.#ring.keys.get(id);
      if (known && !known.equals(key)) {
        throw new KeyRingError(
          `key "${id}" of key ring ${this.#file} has changed: an id must keep its key; put the earlier key back and add the new one with a new id`,
        );
      }
    }
    this.#ring = { active, keys: new Map([...this.#ring.keys, ...keys]), signing };
  }

  /** Seals text for one owner: opening it requires the same `context`. */
  seal(plain: string, context: string): Sealed {
    const { active, keys } = this.#ring;
    const key = keys.get(active);
    if (!key) throw new KeyRingError('the key ring has no active key');
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
    const text = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { keyId: active, ciphertext: text.toString('base64') };
  }

  /** Opens sealed text; returns undefined when it cannot be opened. */
  tryOpen(sealed: Sealed, context: string): string | undefined {
    try {
      return this.open(sealed, context);
    } catch {
      return undefined;
    }
  }

  /** Opens sealed text. Throws KeyRingError, naming the key, when it is missing or the text was tampered with. */
  open(sealed: Sealed, context: string): string {
    const key = this.has(sealed.keyId) ? this.#ring.keys.get(sealed.keyId) : undefined;
    if (!key) {
      throw new KeyRingError(
        `key "${sealed.keyId}" is needed and not in the key ring ${this.#file}; put it back`,
      );
    }
    const bytes = Buffer.from(sealed.ciphertext, 'base64');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const tag = bytes.subarray(bytes.length - TAG_BYTES);
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
        .setAAD(Buffer.from(context))
        .setAuthTag(tag);
      const body = bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    } catch {
      throw new KeyRingError(
        `a secret sealed with key "${sealed.keyId}" cannot be opened: wrong key or altered data`,
      );
    }
  }
}
