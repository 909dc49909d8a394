import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Sealed {
  readonly keyId: string;
  readonly ciphertext: string;
}

/**
 * Seals secrets at rest and in streams with AES-256-GCM. The ring is a JSON file:
 * `{"active": "k1", "keys": {"k1": "<base64 of 32 bytes>"}}`; `active` seals, every key opens.
 */
export class KeyRing {
  readonly #active: string;
  readonly #keys: ReadonlyMap<string, Buffer>;

  private constructor(active: string, keys: ReadonlyMap<string, Buffer>) {
    this.#active = active;
    this.#keys = keys;
  }

  /** Reads a ring. Throws KeyRingError, naming the file and what to do, when it is missing or malformed. */
  static read(path: string): KeyRing {
    if (!existsSync(path)) {
      throw new KeyRingError(
        `key ring ${path} does not exist; make one with: npm run operator -- keyring create --out ${path}`,
      );
    }
    return KeyRing.parse(readFileSync(path, 'utf8'), path);
  }

  /** Parses the ring's text; `source` names it in errors. */
  static parse(text: string, source: string): KeyRing {
    const fail = (what: string) => new KeyRingError(`key ring ${source} is malformed: ${what}`);
    let ring: { active?: unknown; keys?: unknown };
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
    return new KeyRing(ring.active, keys);
  }

  /** Writes a new ring with one key, readable by its owner only. Never overwrites. */
  static create(path: string): void {
    const ring = { active: 'k1', keys: { k1: randomBytes(KEY_BYTES).toString('base64') } };
    writeFileSync(path, `${JSON.stringify(ring, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  }

  has(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /** Seals text for one owner: `context` must be the same when it is opened. */
  seal(plain: string, context: string): Sealed {
    const key = this.#keys.get(this.#active);
    if (!key) throw new KeyRingError('the key ring has no active key');
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
    const text = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { keyId: this.#active, ciphertext: text.toString('base64') };
  }

  /** Opens what `seal` made. Throws KeyRingError naming the key when it is missing, or the text was tampered with. */
  open(sealed: Sealed, context: string): string {
    const key = this.#keys.get(sealed.keyId);
    if (!key) throw new KeyRingError(`key "${sealed.keyId}" is needed and not in the key ring; put it back`);
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

class KeyRingError extends Error {
  override readonly name = 'KeyRingError';
}
