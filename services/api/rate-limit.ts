import type { RequestHandler } from 'express';
import { type ClientRateLimitInfo, rateLimit, type Store } from 'express-rate-limit';
import type { Clock } from '../process/clock.ts';
import { ApiError } from './problem.ts';

const WINDOW_MS = 60_000;

export interface RateLimit {
  readonly handler: RequestHandler;
  stop(): void;
}

/**
 * Limits the requests of one API key per minute, in this process. Every response has the RateLimit headers (IETF
 * draft); a refusal also has Retry-After. Runs after authentication.
 */
export function limitPerMinute(name: string, limit: number, clock: Clock): RateLimit {
  const windows = new Windows(clock);
  const handler = rateLimit({
    windowMs: WINDOW_MS,
    limit,
    store: windows,
    identifier: name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_request, response) => String(response.locals.keyId),
    handler: (_request, _response, next) => {
      next(new ApiError('rate_limited', `The limit is ${limit} requests per key and minute (${name}).`));
    },
  });
  return { handler, stop: () => windows.clear() };
}

interface Window {
  requests: number;
  /** When it ends, by the clock's `now()`. */
  readonly endsAt: number;
}

/**
 * The current window of each key. The library's own store uses the system's time: after that is set back by an hour, a
 * key at its limit would be refused for an hour.
 */
class Windows implements Store {
  readonly localKeys = true;
  readonly #clock: Clock;
  /** In the order of their ends, since all are equally long. */
  readonly #windows = new Map<string, Window>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  increment(key: string): ClientRateLimitInfo {
    const now = this.#clock.now();
    for (const [other, { endsAt }] of this.#windows) {
      if (endsAt > now) break;
      this.#windows.delete(other);
    }
    const window = this.#windows.get(key) ?? { requests: 0, endsAt: now + WINDOW_MS };
    window.requests += 1;
    this.#windows.set(key, window);
    // The library compares it with the system's time.
    const resetTime = new Date(this.#clock.system(this.#clock.wall(window.endsAt)));
    return { totalHits: window.requests, resetTime };
  }

  decrement(key: string): void {
    const window = this.#windows.get(key);
    if (window) window.requests -= 1;
  }

  resetKey(key: string): void {
    this.#windows.delete(key);
  }

  clear(): void {
    this.#windows.clear();
  }
}
