import type { Request, RequestHandler, Response } from 'express';
import type { EndpointStatus } from '../../domain/endpoint.ts';
import { isUuid } from '../../domain/ids.ts';
import type { EndpointRecord } from '../../store/store.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { endpointJson } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { decodeCursor, encodeCursor, page, queryOf } from '../pagination.ts';
import { ApiError } from '../problem.ts';

export const PAGE_DEFAULT = 50;

/** GET /merchant/webhook-endpoints: newest first, keyset on (created_at, uuid). */
export function listEndpoints(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const query = queryOf(request);
    const limit = Number(query.get('limit') ?? PAGE_DEFAULT);
    const status = query.get('status') as EndpointStatus | null;
    const after = decodeCursor(query.get('cursor'), positionOf);
    const records = await context.store.endpoints.list(merchantOf(response), {
      limit: limit + 1,
      ...(status === null ? {} : { status }),
      ...(after === undefined ? {} : { after }),
    });
    const { data, ...rest } = page(records, limit, (last) => encodeCursor(`${last.createdAt}/${last.uuid}`));
    sendJson(response, 200, {
      data: data.map((record) => endpointJson(record, context.environment)),
      ...rest,
    });
  };
}

function positionOf(position: string): { createdAt: number; uuid: string } | undefined {
  const [, createdAt, uuid] = /^(\d{1,15})\/(.+)$/.exec(position) ?? [];
  return createdAt !== undefined && uuid !== undefined && isUuid(uuid)
    ? { createdAt: Number(createdAt), uuid }
    : undefined;
}

/** GET /merchant/webhook-endpoints/{id} */
export function getEndpoint(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const record = await findEndpoint(context, request, response);
    sendJson(response, 200, endpointJson(record, context.environment));
  };
}

/**
 * Returns the merchant's endpoint that the path names. Unknown, deleted and another merchant's endpoints give the same
 * 404.
 */
export async function findEndpoint(
  context: ApiContext,
  request: Request,
  response: Response,
): Promise<EndpointRecord> {
  const record = await context.store.endpoints.get(merchantOf(response), pathId(request, 'id'));
  if (record === undefined) throw endpointNotFound();
  return record;
}

/** Returns an id of the path in lower case: UUIDs are the same in upper case (RFC 9562 §4). */
export function pathId(request: Request, name: string): string {
  return String(request.params[name]).toLowerCase();
}

export function endpointNotFound(): ApiError {
  return new ApiError('webhook_endpoint_not_found', 'No endpoint of yours has this id.');
}
