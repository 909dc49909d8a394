import type { RequestHandler } from 'express';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../process/clock.ts';
import type { Random } from '../process/random.ts';
import type { portalActor } from '../store/portal-sessions.ts';
import type { PublishRights } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Activity } from '../watchdog/activity.ts';
import { withinRequest } from './request-label.ts';

/** The locals of a response that the API's parts share. */
declare global {
  namespace Express {
    interface Locals {
      requestId: string;
      /** The path's template once it matched: labels and logs use it, never the path with its ids. */
      route?: string;
      /** Of the key, or of the session of the console. */
      keyId?: string;
      /** The author, when the request comes from the console. */
      portal?: ReturnType<typeof portalActor>;
      /** Looks the key or session up again. */
      isStillValid?: () => Promise<boolean>;
      /** The types and merchants that a producer's key may publish. */
      publishRights?: PublishRights;
      /** Of the events that the request publishes. */
      eventIds?: readonly string[];
      /** The request is HEAD: the response has no body, so nothing may wait for one. */
      isHead?: boolean;
      merchantId?: string | null;
      errorCode?: string;
      /** Tells the watchdog what this process is busy with. */
      activity?: Activity;
    }
  }
}

/** The most event ids in a line: the log of events has the key of each. */
const EVENT_IDS_MAX = 20;

/**
 * Gives each request its id (header X-Request-Id of every response) and logs one line when it has ended: allow-listed
 * fields, never a body, a header or a query.
 */
export function requestLog(deps: {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
  readonly activity?: Activity | undefined;
}): RequestHandler {
  const requests = new Counter({
    name: 'hookrail_api_requests_total',
    help: 'API requests by operation, method and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [deps.registry],
  });
  const seconds = new Histogram({
    name: 'hookrail_api_request_seconds',
    help: 'Time from the headers of a request to the end of its response.',
    labelNames: ['route'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 3, 10],
    registers: [deps.registry],
  });
  return (request, response, next) => {
    const startedAt = deps.clock.now();
    const requestId = deps.random.uuid();
    response.locals.requestId = requestId;
    if (deps.activity) response.locals.activity = deps.activity;
    response.setHeader('X-Request-Id', requestId);
    // 'close' follows 'finish', and is also emitted when the caller disconnects before the response.
    response.once('close', () => {
      const durationMs = deps.clock.now() - startedAt;
      const { route = 'unmatched', keyId, errorCode, eventIds } = response.locals;
      // An invented method must not become a label of its own.
      const method = route === 'unmatched' ? 'other' : request.method;
      requests.inc({ method, route, status: response.statusCode });
      seconds.observe({ route }, durationMs / 1000);
      deps.log.info({
        event: 'api_request',
        method: request.method,
        route,
        status: response.statusCode,
        duration_ms: Math.round(durationMs * 10) / 10,
        request_id: requestId,
        ...(keyId === undefined ? {} : { key_id: keyId }),
        ...(eventIds === undefined
          ? {}
          : { events: eventIds.length, event_ids: eventIds.slice(0, EVENT_IDS_MAX) }),
        ...(errorCode === undefined ? {} : { code: errorCode }),
        ...(response.writableFinished ? {} : { aborted: true }),
      });
    });
    withinRequest(response, next);
  };
}
