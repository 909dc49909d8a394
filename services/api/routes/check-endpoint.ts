import type { RequestHandler } from 'express';
import { resultOf } from '../../domain/checks/endpoint-check.ts';
import { goneSignal } from '../../process/gone.ts';
import { type ApiContext, auditRequest, wholeNow } from '../context.ts';
import { checkJson } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { openedHeaders } from './endpoint-headers.ts';
import { findEndpoint } from './read-endpoints.ts';

/** Checks that run at a time in one process: each holds a connection for as long as a server is silent. */
const RUNNING_MAX = 64;

/** POST /merchant/webhook-endpoints/{id}/check (docs/decisions.md, "Checks of an endpoint"). */
export function checkEndpoint(context: ApiContext): RequestHandler {
  let running = 0;
  return async (request, response) => {
    const endpoint = await findEndpoint(context, request, response);
    const { uuid, merchantId, url } = endpoint;
    if (running >= RUNNING_MAX) throw tooMany();
    running += 1;
    try {
      const details = { url };
      await auditRequest(context, response, { merchantId, endpointId: uuid, action: 'check.run', details });
      const at = wholeNow(context.clock);
      const ended = AbortSignal.any([goneSignal(response), context.stopping]);
      const steps = await context.checkUrl(url, ended, openedHeaders(context, endpoint));
      const check = { at, url, result: resultOf(steps), steps };
      // An interrupted one says nothing of the endpoint.
      if (!ended.aborted) await context.store.endpoints.keepCheck(merchantId, uuid, check);
      if (!response.destroyed) sendJson(response, 200, checkJson(check));
    } finally {
      running -= 1;
    }
  };
}

function tooMany(): ApiError {
  return new ApiError('temporarily_unavailable', 'Too many checks are running.', {
    headers: { 'Retry-After': '5' },
  });
}
