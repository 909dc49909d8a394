import type { RequestHandler } from 'express';
import { type ClientRateLimitInfo, rateLimit, type Store } from 'express-rate-limit';
import { Turns } from '../process/access/turns.ts';
import type { Clock } from '../process/clock.ts';
import type { Limits } from '../store/limits.ts';
import { ApiError } from './problem.ts';

const WINDOW_MS = 60_000;
/** Requests of a key that the store counts at a time. It counts one after the other in any case: a key has one row. */
const COUNTED_AT_ONCE = 4;
/** The most keys over their limit that are remembered; the one remembered first is forgotten first. */
const KEYS_OVER_MAX = 10_000;

/**
 * Limits the requests of one API key per minute, over all processes on the store. Every response has the RateLimit
 * headers (IETF draft); a refusal also has Retry-After. Runs after authentication.
 */
export function limitPerMinute(name: string, limit: number, limits: Limits, clock: Clock): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit,
    store: new CountedRequests({ name, limit, limits, clock }),
    identifier: name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_request, response) => String(response.locals.keyId),
    handler: (_request, _response, next) => {
      next(new ApiError('rate_limited', `The limit is ${limit} requests per key and minute (${name}).`));
    },
  });
}

interface CountedRequestsOptions {
  readonly name: string;
  readonly limit: number;
  readonly limits: Limits;
  readonly clock: Clock;
}

/**
 * The counts of our store as the library wants them. Every request counts, so none is taken back. A key that is over its
 * limit stays so until its window ends: until then it is refused without the store.
 */
class CountedRequests implements Store {
  readonly localKeys = false;
  readonly #options: CountedRequestsOptions;
  readonly #turns = new Turns(COUNTED_AT_ONCE);
  /** When the windows of keys over their limit end, by the clock's `now()`. */
  readonly #overUntil = new Map<string, number>();

  constructor(options: CountedRequestsOptions) {
    this.#options = options;
  }

  async increment(keyId: string): Promise<ClientRateLimitInfo> {
    return (
      this.#refusal(keyId) ?? this.#turns.run(keyId, async () => this.#refusal(keyId) ?? this.#take(keyId))
    );
  }

  decrement(): void {}

  resetKey(): void {}

  async #take(keyId: string): Promise<ClientRateLimitInfo> {
    const { name, limit, limits, clock } = this.#options;
    const askedAt = clock.now();
    const { used, endsInMs } = await limits.take(keyId, name, WINDOW_MS);
    // From when it was asked: this process must not take the window for longer than the store does.
    if (used > limit) this.#remember(keyId, askedAt + endsInMs);
    return this.#told(used, clock.now() + endsInMs);
  }

  #refusal(keyId: string): ClientRateLimitInfo | null {
    const until = this.#overUntil.get(keyId);
    if (until === undefined) return null;
    if (until > this.#options.clock.now()) return this.#told(this.#options.limit + 1, until);
    this.#overUntil.delete(keyId);
    return null;
  }

  #remember(keyId: string, until: number): void {
    this.#overUntil.delete(keyId);
    this.#overUntil.set(keyId, until);
    for (const [oldest] of this.#overUntil) {
      if (this.#overUntil.size <= KEYS_OVER_MAX) break;
      this.#overUntil.delete(oldest);
    }
  }

  #told(totalHits: number, endsAt: number): ClientRateLimitInfo {
    const { clock } = this.#options;
    // The library compares it with the system's time.
    return { totalHits, resetTime: new Date(clock.system(clock.wall(endsAt))) };
  }
}
