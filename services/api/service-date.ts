import type { RequestHandler } from 'express';
import type { Clock } from '../process/clock.ts';

/**
 * Dates responses by the service's clock where a sandbox's clock was moved on, so that a client can tell how far away the
 * times in them are.
 */
export function serviceDate(clock: Clock): RequestHandler {
  return (_request, response, next) => {
    const wall = clock.wall();
    if (clock.system(wall) !== wall) response.setHeader('Date', new Date(wall).toUTCString());
    next();
  };
}
