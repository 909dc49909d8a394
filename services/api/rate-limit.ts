import type { RequestHandler } from 'express';
import { MemoryStore, rateLimit } from 'express-rate-limit';
import { ApiError } from './problem.ts';

const WINDOW_MS = 60_000;

export interface RateLimit {
  readonly handler: RequestHandler;
  stop(): void;
}

/**
 * Limits the requests of one API key per minute, in this process. Every answer carries the RateLimit headers
 * (IETF draft); a refused one also Retry-After. Runs behind authentication.
 */
export function limitPerMinute(name: string, limit: number): RateLimit {
  const store = new MemoryStore();
  const handler = rateLimit({
    windowMs: WINDOW_MS,
    limit,
    store,
    identifier: name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_request, response) => String(response.locals.keyId),
    handler: (_request, _response, next) => {
      next(new ApiError('rate_limited', `A key may make ${limit} requests a minute here (${name}).`));
    },
  });
  return { handler, stop: () => store.shutdown() };
}
