import type { RequestHandler, Response } from 'express';
import { requestedDeliveryId } from '../../domain/ids.ts';
import type { EndpointRecord } from '../../store/store.ts';
import { type ApiContext, auditRequest } from '../context.ts';
import { type Answer, idempotentlyKept } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { publishRequested } from '../publish-requested.ts';
import { findEndpoint, pathId } from './read-endpoints.ts';

/**
 * POST /merchant/webhook-endpoints/{id}/deliveries/{delivery_id}/resend: sends the same bytes again, as a new delivery
 * with one attempt (docs/decisions.md, "Delivery log and recovery").
 */
export function resendDelivery(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const endpoint = await findEndpoint(context, request, response);
    const deliveryId = pathId(request, 'delivery_id');
    const key = request.get('idempotency-key');
    // From the key, if there is one: a repeat after a crash, before the response was stored, is the same delivery.
    const asked = key === undefined ? response.locals.requestId : `${response.locals.keyId}:${key}`;
    await idempotentlyKept(context, { request, response }, () =>
      resend(context, response, { endpoint, deliveryId, asked }),
    );
  };
}

async function resend(
  context: ApiContext,
  response: Response,
  of: { readonly endpoint: EndpointRecord; readonly deliveryId: string; readonly asked: string },
): Promise<Answer> {
  const { endpoint, deliveryId, asked } = of;
  const { log } = context.store;
  const { merchantId, uuid: endpointId } = endpoint;
  const source = await log.delivery(merchantId, endpointId, deliveryId);
  if (source === undefined) throw new ApiError('delivery_not_found', '');
  if (source.trigger === 'test') throw new ApiError('test_not_resendable', 'This delivery was a test.');
  requireActive(endpoint);
  if (source.body === null) throw new ApiError('delivery_body_removed', '');
  const { eventId, entityId, subjectId, sequence, type, subType, apiVersion, occurredAt, body } = source;
  // Includes the source's id: a careless client may resend two deliveries of one event under one key.
  const newId = requestedDeliveryId(`${asked}/${deliveryId}`, eventId, endpointId);
  if ((await log.delivery(merchantId, endpointId, newId)) === undefined) {
    await auditRequest(context, response, {
      ...{ merchantId, endpointId, action: 'delivery.resend' },
      details: { deliveryId: newId, of: deliveryId, eventId },
    });
    const ids = { deliveryId: newId, eventId, merchantId, endpointId, entityId, subjectId, sequence };
    const once = { trigger: 'manual', attemptsMax: 1 } as const;
    await publishRequested(context, { ...ids, type, subType, apiVersion, occurredAt, body, ...once });
  }
  return {
    status: 202,
    headers: { Location: `/merchant/webhook-endpoints/${endpointId}/deliveries/${newId}` },
    body: { delivery_uuid: newId, event_uuid: eventId, status: 'queued' },
  };
}

/** Refuses an endpoint that is not active: the attempt would be cancelled at once. */
export function requireActive({ status }: Pick<EndpointRecord, 'status'>): void {
  if (status !== 'active') throw new ApiError('endpoint_not_active', `The endpoint is ${status}.`);
}
