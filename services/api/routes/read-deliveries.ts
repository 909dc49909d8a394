import type { RequestHandler } from 'express';
import { redactedHeaders } from '../../domain/webhook-request.ts';
import { fewAtOnce, READS_AT_ONCE } from '../../process/few-at-once.ts';
import type { AttemptRecord, DeliveryRecord, EndpointRecord } from '../../store/store.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { timestamp, timestampOrNull } from '../endpoint-json.ts';
import { apiVersionOf, bodyJson } from '../events/event-body.ts';
import { quarantinedAbout, quarantineOf, searchNote } from '../find/quarantined-events.ts';
import { subjectJson } from '../find/subject-json.ts';
import { sendJson } from '../idempotency.ts';
import { queryOf } from '../pagination.ts';
import { ApiError } from '../problem.ts';
import { findEndpoint, pathId } from './read-endpoints.ts';

/** Returns a time of the request. The validator has checked its form, but a leap second has the form and is no Date. */
export function timeOf(pointer: string, text: string | null): number | undefined {
  if (text === null) return undefined;
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  const errors = [{ pointer, code: 'invalid_format', detail: 'is not a valid time' }];
  throw new ApiError('validation_error', `"${text.slice(0, 40)}" is not a valid time.`, { errors });
}

/** GET /merchant/webhook-endpoints/{id}/deliveries/{delivery_id} */
export function getDelivery(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const endpoint = await findEndpoint(context, request, response);
    const { merchantId, uuid } = endpoint;
    const delivery = await context.store.log.delivery(merchantId, uuid, pathId(request, 'delivery_id'));
    if (delivery === undefined) throw new ApiError('delivery_not_found', '');
    sendJson(response, 200, {
      ...deliveryJson(delivery, await isMerchantPaused(context, merchantId)),
      body: delivery.body === null ? null : Buffer.from(delivery.body).toString('utf8'),
      body_removed: delivery.bodyRemoved,
      attempts: delivery.attempts.map((attempt) => attemptJson(delivery, attempt, endpoint, context.clock)),
    });
  };
}

/**
 * Returns whether the operator holds the merchant's deliveries back: then they wait through no fault of the receiver.
 */
export async function isMerchantPaused(context: ApiContext, merchantId: string): Promise<boolean> {
  return (await context.store.merchants.get(merchantId))?.state === 'paused';
}

export function deliveryJson(delivery: DeliveryRecord, isPaused: boolean) {
  return {
    delivery_uuid: delivery.deliveryId,
    event_uuid: delivery.eventId,
    endpoint_uuid: delivery.endpointId,
    ...subjectJson(delivery),
    type: delivery.type,
    subType: delivery.subType,
    api_version: delivery.apiVersion,
    trigger: delivery.trigger,
    status: delivery.status,
    cancel_reason: delivery.cancelReason,
    held: isPaused && (delivery.status === 'pending' || delivery.status === 'failed'),
    parked_reason: delivery.parkedReason,
    attempts_made: delivery.attemptsMade,
    attempts_max: delivery.attemptsMax,
    occurred_at: timestamp(delivery.occurredAt),
    created_at: timestamp(delivery.createdAt),
    next_attempt_at: timestampOrNull(delivery.nextAttemptAt),
    last_attempt_at: timestampOrNull(delivery.lastAttemptAt),
    last_response_status: delivery.lastResponseStatus,
    last_failure_code: delivery.lastFailureCode,
  };
}

function attemptJson(
  delivery: DeliveryRecord & { readonly bodyRemoved: boolean },
  attempt: AttemptRecord,
  endpoint: EndpointRecord,
  clock: ApiContext['clock'],
) {
  const { response } = attempt;
  return {
    number: attempt.number,
    trigger: attempt.trigger,
    started_at: timestamp(attempt.startedAt),
    duration_ms: rounded(attempt.durationMs),
    request_headers: redactedHeaders(
      {
        delivery: { ...delivery, trigger: attempt.trigger, attempt: attempt.number },
        startedAt: clock.system(attempt.startedAt),
        signature: attempt.signature,
      },
      namesSent(endpoint, attempt),
    ),
    response_status: response?.status ?? null,
    response_headers: response === null ? null : joined(response.headers),
    response_body:
      response === null || delivery.bodyRemoved ? null : Buffer.from(response.body).toString('utf8'),
    response_body_truncated: response?.bodyTruncated ?? false,
    failure_code: attempt.failureCode,
    failure_detail: attempt.failureDetail,
    next_attempt_at: timestampOrNull(attempt.nextAttemptAt),
  };
}

/** Returns the names of the merchant's own headers that an attempt had; of one before they were set, nothing is known. */
function namesSent({ headers, headersSetAt }: EndpointRecord, { startedAt }: AttemptRecord) {
  return headersSetAt !== null && headersSetAt <= startedAt ? headers?.names : undefined;
}

/** Rounds to tenths of a millisecond: a network is not more exact. */
export function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}

/** Joins repeated headers. A receiver may name a header `__proto__`, so only own properties are used. */
function joined(headers: readonly (readonly [name: string, value: string])[]): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of headers) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(values);
}

/** Says of an event that the store does not have whether it is in quarantine. */
async function noEvent(context: ApiContext, merchantId: string, eventId: string): Promise<ApiError> {
  const search = await quarantinedAbout(quarantineOf(context), merchantId, eventId);
  const kept = search.records.find((record) => record.eventId === eventId);
  if (!kept) return new ApiError('event_not_found', searchNote(search) ?? '');
  return new ApiError(
    'event_not_found',
    `The event has been in quarantine since ${timestamp(kept.at)} and was not sent: GET /merchant/subjects/${eventId} says why.`,
  );
}

/** GET /merchant/events/{event_id}: the event and its routing, endpoint by endpoint. */
export function getEvent(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const version = apiVersionOf(queryOf(request));
    const merchantId = merchantOf(response);
    const eventId = pathId(request, 'event_id');
    const [found, merchant] = await Promise.all([
      context.store.log.event(merchantId, eventId),
      context.store.merchants.get(merchantId),
    ]);
    if (found === undefined) throw await noEvent(context, merchantId, eventId);
    const { event, subjectId, sequence, routedAt, trace } = found;
    const endpoints = await fewAtOnce(trace, READS_AT_ONCE, (line) => traceJson(context, merchantId, line));
    sendJson(response, 200, {
      event_uuid: event.eventId,
      type: event.type,
      subType: event.subType,
      ...subjectJson({ ...event, subjectId, sequence }),
      entity_kind: event.entityKind,
      occurred_at: timestamp(event.occurredAt),
      routed_at: timestamp(routedAt),
      simulated: event.simulated,
      ...bodyJson(event, version, merchant),
      endpoints,
    });
  };
}

type TraceLine = NonNullable<Awaited<ReturnType<ApiContext['store']['log']['event']>>>['trace'][number];

/** Returns one line of the trace, with the status that the delivery has now: being routed is not being delivered. */
async function traceJson({ store }: ApiContext, merchantId: string, line: TraceLine) {
  const { endpointId: endpoint_uuid } = line;
  if (line.verdict !== 'delivered_to') {
    const none = { delivery_uuid: null, status: null, api_version: null, trigger: null };
    return { endpoint_uuid, verdict: line.verdict, ...none };
  }
  const delivery = await store.log.delivery(merchantId, line.endpointId, line.deliveryId);
  return {
    endpoint_uuid,
    verdict: 'routed',
    delivery_uuid: line.deliveryId,
    status: delivery?.status ?? null,
    api_version: line.apiVersion,
    trigger: line.byReplay ? 'replay' : 'live',
  };
}
