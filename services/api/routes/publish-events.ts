import type { RequestHandler } from 'express';
import type { PublishedEvent } from '../../broker/broker.ts';
import { decodeEventJson } from '../../codec/events.ts';
import type { DomainEvent } from '../../domain/event.ts';
import { readTraceparent, TRACEPARENT } from '../../telemetry/trace-context.ts';
import { type ApiContext, published } from '../context.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError, type FieldError } from '../problem.ts';

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
      const events = decoded(request.body);
      const traceparent = readTraceparent(request.headers[TRACEPARENT]);
      const results = await published(context.broker.publishEvents(events, traceparent));
      sendJson(response, 202, answerJson(events, results));
    } finally {
      inFlight -= 1;
    }
  };
}

function decoded(body: unknown): DomainEvent[] {
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
    if (result.ok) events.push(result.event);
    else {
      const prefix = isBatch ? `/${index}` : '';
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

const STATUS_OF: Readonly<Record<PublishedEvent, { readonly status: string; readonly code?: string }>> = {
  accepted: { status: 'accepted' },
  duplicate: { status: 'duplicate' },
  // The engine has put it into quarantine, where an operator finds it.
  conflict: { status: 'quarantined', code: 'event_id_conflict' },
};

function answerJson(events: readonly DomainEvent[], results: readonly PublishedEvent[]) {
  const counts = { accepted: 0, duplicate: 0, conflict: 0 };
  const list = events.map((event, index) => {
    const result = results[index] ?? 'accepted';
    counts[result] += 1;
    return { event_id: event.eventId, ...STATUS_OF[result] };
  });
  const { accepted, duplicate: duplicates, conflict: quarantined } = counts;
  return { accepted, duplicates, quarantined, results: list };
}
