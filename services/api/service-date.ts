import type { RequestHandler } from 'express';
import { CLOCK_AHEAD_HEADER } from '../domain/text/clock-ahead-header.ts';
import type { Clock } from '../process/clock.ts';

/**
 * Dates responses by the service's clock where a sandbox's clock was moved on, so that a client can tell how far away the
 * times in them are: to the second by `Date`, exactly by `Clock-Ahead-Ms` (docs/simulator.md, "Move the clock on").
 */
export function serviceDate(clock: Clock): RequestHandler {
  return (_request, response, next) => {
    const wall = clock.wall();
    const aheadMs = Math.round(wall - clock.system(wall));
    if (aheadMs !== 0) {
      response.setHeader('Date', new Date(wall).toUTCString());
      response.setHeader(CLOCK_AHEAD_HEADER, String(aheadMs));
    }
    next();
  };
}
