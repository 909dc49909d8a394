import type { RequestHandler, Response } from 'express';
import type { RoutingVerdict } from '../../domain/journal.ts';
import type { WebhookType } from '../../domain/notices/notice.ts';
import type { DeliveryStatus, MerchantLists } from '../../store/store.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { ROUTED } from '../events/event-json.ts';
import { aboutOf } from '../find/subject-json.ts';
import { sendJson } from '../idempotency.ts';
import { explainCursor, pageUpTo, queryOf } from '../pagination.ts';
import { isFeed, LIST_LIMIT_MAX, listedJson, sendFeed } from './event-feed.ts';
import { deliveryJson, isMerchantPaused, timeOf } from './read-deliveries.ts';
import { findEndpoint, PAGE_DEFAULT } from './read-endpoints.ts';

/** GET /merchant/webhook-endpoints/{id}/deliveries: newest first. */
export function listDeliveries(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { merchantId, uuid: endpointId } = await findEndpoint(context, request, response);
    await sendDeliveries(context, response, merchantId, {
      ...deliveryFilterOf(queryOf(request)),
      endpointId,
    });
  };
}

/** GET /merchant/deliveries: those of all endpoints, newest first. */
export function listAllDeliveries(context: ApiContext): RequestHandler {
  return async (request, response) => {
    await sendDeliveries(context, response, merchantOf(response), deliveryFilterOf(queryOf(request)));
  };
}

async function sendDeliveries(
  context: ApiContext,
  response: Response,
  merchantId: string,
  options: Parameters<MerchantLists['deliveries']>[1],
): Promise<void> {
  const [{ records, next }, isPaused] = await Promise.all([
    context.store.lists.deliveries(merchantId, options).catch(explainCursor),
    isMerchantPaused(context, merchantId),
  ]);
  const data = records.map((delivery) => deliveryJson(delivery, isPaused));
  sendJson(response, 200, pageUpTo(data, next));
}

/** Returns the conditions and the page of a list of deliveries. */
export function deliveryFilterOf(query: URLSearchParams) {
  const status = query.get('status') as DeliveryStatus | null;
  return { ...filterOf(query), ...(status === null ? {} : { status }) };
}

/** GET /merchant/events: each with its routing, newest first, or as the event feed. */
export function listEvents(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const query = queryOf(request);
    const verdict = query.get('verdict');
    const filter = { ...filterOf(query), ...(verdict === null ? {} : { verdict: verdictOf(verdict) }) };
    if (isFeed(query)) return sendFeed(context, response, query, filter);
    const { records, next } = await context.store.lists
      .events(merchantOf(response), { ...filter, limit: Math.min(filter.limit, LIST_LIMIT_MAX) })
      .catch(explainCursor);
    const data = await listedJson(context, merchantOf(response), query, records);
    sendJson(response, 200, pageUpTo(data, next));
  };
}

/** Returns the conditions and the page that both lists accept, as the store has them. */
export function filterOf(query: URLSearchParams) {
  const type = query.get('type') as WebhookType | null;
  const subType = query.get('subType');
  const endpointId = query.get('endpoint_uuid');
  const since = timeOf('/query/since', query.get('since'));
  const until = timeOf('/query/until', query.get('until'));
  // The store's cursors are already opaque and fit for a URL.
  const after = query.get('cursor');
  return {
    limit: Number(query.get('limit') ?? PAGE_DEFAULT),
    ...(type === null ? {} : { type }),
    ...(subType === null ? {} : { subType }),
    ...(endpointId === null ? {} : { endpointId: endpointId.toLowerCase() }),
    ...aboutOf(query),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(after === null ? {} : { after }),
  };
}

function verdictOf(word: string): RoutingVerdict['verdict'] {
  return word === ROUTED ? 'delivered_to' : (word as RoutingVerdict['verdict']);
}
