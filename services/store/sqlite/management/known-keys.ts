import type { ApiKey, ApiKeys } from '../../merchants.ts';

/** The most keys in memory; beyond that all are forgotten. */
const KEYS_MAX = 10_000;

/**
 * The keys that were looked up, so that a request does not wait for the reader's thread. This process alone opens the
 * file, so a change of a key goes through it, and takes effect when it is durable.
 */
export class KnownKeys {
  readonly #lookUp: ApiKeys['findByHash'];
  readonly #known = new Map<string, ApiKey>();
  /** Grows with each change: what was read before a change is not remembered after it. */
  #changes = 0;

  constructor(lookUp: ApiKeys['findByHash']) {
    this.#lookUp = lookUp;
  }

  async find(hash: Uint8Array): Promise<ApiKey | undefined> {
    const name = Buffer.from(hash).toString('latin1');
    const known = this.#known.get(name);
    if (known) return known;
    const changes = this.#changes;
    const key = await this.#lookUp(hash);
    // An unknown key is not remembered: anybody can invent one.
    if (key && changes === this.#changes) {
      if (this.#known.size >= KEYS_MAX) this.#known.clear();
      this.#known.set(name, key);
    }
    return key;
  }

  /** Makes a change, and forgets what it may have changed before it is acknowledged. */
  async change<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } finally {
      this.#changes += 1;
      this.#known.clear();
    }
  }
}
