import { FailedAttempts } from '../../process/access/failed-attempts.ts';
import { RecentNames } from '../../process/access/recent-names.ts';
import type { Clock } from '../../process/clock.ts';
import { ERROR_CODES } from '../error-codes.ts';
import { ApiError } from '../problem.ts';

/** Accepted keys remembered, by their hash. */
const ACCEPTED_MAX = 10_000;
const UNAUTHORIZED = 401;

/**
 * Limits the requests without a valid key that come from one client address, so that keys of one's own making do not cost
 * a look into the store each. A key that was accepted before is looked up in any case, so a client with a valid key is
 * not held up by another one behind the same proxy or NAT; revoking it takes effect all the same.
 */
export class FailedKeys {
  readonly #attempts: FailedAttempts;
  readonly #perMinuteMax: number;
  readonly #accepted = new RecentNames(ACCEPTED_MAX);

  constructor({ clock, perMinuteMax }: { readonly clock: Clock; readonly perMinuteMax: number }) {
    this.#attempts = new FailedAttempts({ clock, perMinuteMax });
    this.#perMinuteMax = perMinuteMax;
  }

  /** Reads a key without the store. Throws what `read` does, or 429 when the address has failed too often. */
  read<T>(address: string, read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw isRefusal(error) ? this.#counted(address, error) : error;
    }
  }

  /** Looks a key up by its hash. Rejects as `lookUp` does, or with 429, without a look-up. */
  async check<T>(address: string, hash: Uint8Array, lookUp: () => Promise<T>): Promise<T> {
    const name = Buffer.from(hash).toString('latin1');
    if (this.#accepted.has(name)) {
      return lookUp().catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        this.#accepted.delete(name);
        throw this.#counted(address, error);
      });
    }
    const entry = await this.#attempts.enter(address);
    if (!entry.isAdmitted) throw this.#tooMany(entry.againInMs);
    try {
      const found = await lookUp();
      this.#accepted.add(name);
      entry.leave('accepted');
      return found;
    } catch (error) {
      entry.leave(isRefusal(error) ? 'failed' : 'unknown');
      throw error;
    }
  }

  #counted(address: string, error: unknown): unknown {
    const againInMs = this.#attempts.refusedForMs(address);
    if (againInMs > 0) return this.#tooMany(againInMs);
    this.#attempts.count(address);
    return error;
  }

  #tooMany(againInMs: number): ApiError {
    return new ApiError(
      'too_many_failed_keys',
      `The limit is ${this.#perMinuteMax} requests without a valid key per address and minute.`,
      { headers: { 'Retry-After': String(Math.ceil(againInMs / 1000)) } },
    );
  }
}

/** Whether a request was refused because of its key, its session or its link. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && ERROR_CODES[error.code].status === UNAUTHORIZED;
}
