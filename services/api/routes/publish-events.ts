import type { RequestHandler } from 'express';
import type { PublishedEvent } from '../../broker/broker.ts';
import { decodeEventJson } from '../../codec/events.ts';
import { type DomainEvent, withData } from '../../domain/event.ts';
import { type QuarantineReason, type Refusal, refusalOf } from '../../domain/quarantine.ts';
import { readTraceparent, TRACEPARENT } from '../../telemetry/trace-context.ts';
import { type ApiContext, published } from '../context.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError, type FieldError } from '../problem.ts';
import { pointerOf, refuseOutside } from './publish-rights.ts';

/** The most events in a request: as many as the broker accepts in one call. */
const EVENTS_MAX = 500;
const ERRORS_MAX = 100;

/**
 * POST /producer/events: all or nothing, responds when durable. The codec checks the events rather than the validator:
 * it must decode them anyway, and this path has to be cheap.
 */
export function publishEvents(context: ApiContext): RequestHandler {
  let inFlight = 0;
  return async (request, response) => {
    if (inFlight >= context.limits.producerInFlightMax) {
      throw new ApiError('temporarily_unavailable', 'Too many producer requests are in progress.', {
        headers: { 'Retry-After': '1' },
      });
    }
    inFlight += 1;
    try {
      const events = decoded(request.body, response.locals.keyId);
      response.locals.eventIds = events.map(({ eventId }) => eventId);
      refuseOutside(response.locals.publishRights ?? {}, events, Array.isArray(request.body));
      const traceparent = readTraceparent(request.headers[TRACEPARENT]);
      const refusals = await refusalsOf(events, context);
      const publishing = context.broker.publishEvents(events, { traceparent, refusals });
      sendJson(response, 202, answerJson(events, await published(publishing), refusals));
    } finally {
      inFlight -= 1;
    }
  };
}

/** `publishedBy`: the id of the request's key. */
function decoded(body: unknown, publishedBy: string | undefined): DomainEvent[] {
  const isBatch = Array.isArray(body);
  const items: readonly unknown[] = isBatch ? body : [body];
  if (items.length === 0 || items.length > EVENTS_MAX) {
    const detail = `must be one event or an array of 1 to ${EVENTS_MAX} events`;
    throw refused([{ pointer: '', code: 'out_of_range', detail }]);
  }
  const events: DomainEvent[] = [];
  const errors: FieldError[] = [];
  for (const [index, item] of items.entries()) {
    const result = decodeEventJson(item);
    if (result.ok) events.push(withData(result.event, result.event.data, publishedBy));
    else {
      const prefix = pointerOf(index, isBatch);
      for (const problem of result.errors) {
        errors.push({ pointer: `${prefix}${problem.pointer}`, code: problem.code, detail: problem.detail });
      }
      if (errors.length >= ERRORS_MAX) break;
    }
  }
  if (errors.length > 0) throw refused(errors.slice(0, ERRORS_MAX));
  return events;
}

function refused(errors: readonly FieldError[]): ApiError {
  return new ApiError('validation_error', 'No event of the request was accepted.', { errors });
}

/**
 * Returns the events that the router must not route. A merchant is unknown when neither the directory nor the store has
 * it: a new one is in the store first, and one of an earlier store only in the directory.
 */
async function refusalsOf(
  events: readonly DomainEvent[],
  { directory, environment, store }: ApiContext,
): Promise<ReadonlyMap<DomainEvent, Refusal>> {
  const acceptsSimulated = environment === 'sandbox';
  const isMissing = (merchantId: string) => directory.merchant(merchantId) === undefined;
  const missing = new Set(events.map((event) => event.merchantId).filter(isMissing));
  for (const merchantId of missing) {
    if (await store.merchants.get(merchantId)) missing.delete(merchantId);
  }
  const refusals = new Map<DomainEvent, Refusal>();
  for (const event of events) {
    const isMerchantKnown = !missing.has(event.merchantId);
    const refusal = refusalOf(event, { acceptsSimulated, isMerchantKnown });
    if (refusal) refusals.set(event, refusal);
  }
  return refusals;
}

/** The engine has put it into quarantine, or the router will: an operator finds it there. */
type Answered = 'accepted' | 'duplicate' | 'quarantined';

function answerJson(
  events: readonly DomainEvent[],
  results: readonly PublishedEvent[],
  refusals: ReadonlyMap<DomainEvent, Refusal>,
) {
  const counts: Record<Answered, number> = { accepted: 0, duplicate: 0, quarantined: 0 };
  const list = events.map((event, index) => {
    const { status, code } = answered(results[index] ?? 'accepted', refusals.get(event));
    counts[status] += 1;
    return { event_id: event.eventId, status, ...(code && { code }) };
  });
  const { accepted, duplicate: duplicates, quarantined } = counts;
  return { accepted, duplicates, quarantined, results: list };
}

function answered(
  result: PublishedEvent,
  refusal: Refusal | undefined,
): { readonly status: Answered; readonly code?: QuarantineReason } {
  if (result === 'conflict') return { status: 'quarantined', code: 'event_id_conflict' };
  if (result === 'duplicate') return { status: 'duplicate' };
  return refusal ? { status: 'quarantined', code: refusal } : { status: 'accepted' };
}
