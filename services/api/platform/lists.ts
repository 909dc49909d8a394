import type { RequestHandler } from 'express';
import type { EndpointStatus } from '../../domain/endpoint.ts';
import { findMerchant } from '../../management/merchants.ts';
import type { DeliveryRecord } from '../../store/store.ts';
import type { ApiContext } from '../context.ts';
import { endpointJson } from '../endpoint-json.ts';
import { eventJson } from '../events/event-json.ts';
import { sendJson } from '../idempotency.ts';
import { explainCursor, page, pageUpTo, queryOf } from '../pagination.ts';
import { deliveryJson } from '../routes/read-deliveries.ts';
import { PAGE_DEFAULT } from '../routes/read-endpoints.ts';
import { deliveryFilterOf, filterOf } from '../routes/read-lists.ts';

/** Lists over all merchants, or one: what merchants see of each item, and whose it is. */

/** GET /platform/webhook-endpoints: newest first. */
export function listPlatformEndpoints(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const query = queryOf(request);
    const merchantId = await merchantIn(context, query);
    const limit = Number(query.get('limit') ?? PAGE_DEFAULT);
    const status = query.get('status') as EndpointStatus | null;
    const after = query.get('cursor');
    const found = await context.store.endpoints
      .every({
        limit: limit + 1,
        ...(merchantId === null ? {} : { merchantId }),
        ...(status === null ? {} : { status }),
        ...(query.get('failing') === 'true' ? { isFailing: true } : {}),
        ...(after === null ? {} : { after }),
      })
      .catch(explainCursor);
    const { data, ...rest } = page(found, limit, ({ cursor }) => cursor);
    const items = data.map((record) => ({
      merchant_id: record.merchantId,
      ...endpointJson(record, context.environment),
    }));
    sendJson(response, 200, { data: items, ...rest });
  };
}

/** GET /platform/deliveries: newest first. */
export function listPlatformDeliveries(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const query = queryOf(request);
    const merchantId = await merchantIn(context, query);
    const { records, next } = await context.store.lists
      .deliveries(merchantId, deliveryFilterOf(query))
      .catch(explainCursor);
    const isPaused = ({ merchantId: id }: DeliveryRecord) =>
      context.directory.merchant(id)?.state === 'paused';
    const data = records.map((record) => ({
      merchant_id: record.merchantId,
      ...deliveryJson(record, isPaused(record)),
    }));
    sendJson(response, 200, pageUpTo(data, next));
  };
}

/** GET /platform/events: newest first, each with its routing. */
export function listPlatformEvents(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const query = queryOf(request);
    const merchantId = await merchantIn(context, query);
    const { records, next } = await context.store.lists
      .events(merchantId, filterOf(query))
      .catch(explainCursor);
    const data = records.map((record) => ({ merchant_id: record.event.merchantId, ...eventJson(record) }));
    sendJson(response, 200, pageUpTo(data, next));
  };
}

/** Returns the merchant that the list is narrowed to; null: it is not. */
export async function merchantIn(context: ApiContext, query: URLSearchParams): Promise<string | null> {
  const id = query.get('merchant_id');
  return id === null ? null : (await findMerchant(context, id)).merchantId;
}
