import type { RequestHandler } from 'express';
import { decodeEventJson } from '../../codec/events.ts';
import { contentFaults } from '../../domain/content/content-faults.ts';
import { type DomainEvent, withData } from '../../domain/event.ts';
import { readTraceparent, TRACEPARENT } from '../../telemetry/trace-context.ts';
import { type ApiContext, published } from '../context.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError, type FieldError } from '../problem.ts';
import { queryFlag } from '../reading/query-flag.ts';
import type { AcceptedEvents } from './accepted-events.ts';
import { dryRunJson } from './dry-run.ts';
import { refusalsOf } from './event-refusals.ts';
import { answerJson, judgedOf } from './publish-answer.ts';
import { pointerOf, refuseOutside } from './publish-rights.ts';

/** The most events in a request: as many as the broker accepts in one call. */
const EVENTS_MAX = 500;
const ERRORS_MAX = 100;

/**
 * POST /producer/events: responds when durable. One event that has not the form of an event refuses the request. An
 * event whose content breaks a rule is refused alone, and quarantined in an array: the others must not wait for it. The
 * codec checks the form rather than the validator: it must decode the events anyway, and this path has to be cheap. A
 * dry run goes the same way up to the publishing.
 */
export function publishEvents(context: ApiContext, accepted: AcceptedEvents): RequestHandler {
  let inFlight = 0;
  return async (request, response) => {
    if (inFlight >= context.limits.producerInFlightMax) {
      throw new ApiError('temporarily_unavailable', 'Too many producer requests are in progress.', {
        headers: { 'Retry-After': '1' },
      });
    }
    inFlight += 1;
    try {
      const isDry = queryFlag(request, 'dry_run');
      const events = decoded(request.body, response.locals.keyId);
      const now = context.clock.wall();
      const [alone] = Array.isArray(request.body) ? [] : events;
      if (alone) refuseContent(alone, now);
      if (!isDry) response.locals.eventIds = events.map(({ eventId }) => eventId);
      refuseOutside(response.locals.publishRights ?? {}, events, Array.isArray(request.body));
      const refusals = await refusalsOf(events, context, now);
      if (isDry) {
        const known = await published(context.broker.publishEvents(events, { refusals, isDry }));
        sendJson(response, 200, dryRunJson(context, events, known, { refusals, now }));
        return;
      }
      const traceparent = readTraceparent(request.headers[TRACEPARENT]);
      const results = await published(context.broker.publishEvents(events, { traceparent, refusals }));
      accepted.add(events, results);
      sendJson(response, 202, answerJson(events, judgedOf(events, results, refusals, now)));
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

function refuseContent(event: DomainEvent, now: number): void {
  const faults = contentFaults(event, now);
  if (faults.length > 0) throw refused(faults.map((fault) => ({ ...fault, code: 'invalid_value' })));
}

function refused(errors: readonly FieldError[]): ApiError {
  return new ApiError('validation_error', 'No event of the request was accepted.', { errors });
}
