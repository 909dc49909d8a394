import type { RequestHandler } from 'express';
import { type ClientRateLimitInfo, rateLimit, type Store } from 'express-rate-limit';
import type { Clock } from '../process/clock.ts';
import type { Limits } from '../store/limits.ts';
import { ApiError } from './problem.ts';

const WINDOW_MS = 60_000;

/**
 * Limits the requests of one API key per minute, over all processes on the store. Every response has the RateLimit
 * headers (IETF draft); a refusal also has Retry-After. Runs after authentication.
 */
export function limitPerMinute(name: string, limit: number, limits: Limits, clock: Clock): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit,
    store: new CountedRequests(name, limits, clock),
    identifier: name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_request, response) => String(response.locals.keyId),
    handler: (_request, _response, next) => {
      next(new ApiError('rate_limited', `The limit is ${limit} requests per key and minute (${name}).`));
    },
  });
}

/** The counts of our store as the library wants them. Every request counts, so none is taken back. */
class CountedRequests implements Store {
  readonly localKeys = false;
  readonly #name: string;
  readonly #limits: Limits;
  readonly #clock: Clock;

  constructor(name: string, limits: Limits, clock: Clock) {
    this.#name = name;
    this.#limits = limits;
    this.#clock = clock;
  }

  async increment(keyId: string): Promise<ClientRateLimitInfo> {
    const { used, endsInMs } = await this.#limits.take(keyId, this.#name, WINDOW_MS);
    const clock = this.#clock;
    // The library compares it with the system's time.
    return { totalHits: used, resetTime: new Date(clock.system(clock.wall(clock.now() + endsInMs))) };
  }

  decrement(): void {}

  resetKey(): void {}
}
