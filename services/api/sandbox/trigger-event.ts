import type { RequestHandler } from 'express';
import { decodeEventJson, eventToJson } from '../../codec/events.ts';
import { subjectIdOf } from '../../domain/catalog/subject.ts';
import { contentFaults } from '../../domain/content/content-faults.ts';
import { type DomainEvent, type EventData, withData } from '../../domain/event.ts';
import { sampleEvent } from '../../samples/sample.ts';
import { type ApiContext, published, wholeNow } from '../context.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError, type FieldError } from '../problem.ts';
import { queryFlag } from '../reading/query-flag.ts';
import { checkEventNamed, type EventNamed, entityOf } from './named-event.ts';

interface Triggered extends EventNamed {
  readonly subject?: string;
  readonly data?: EventData;
}

/** Answers as if a path did not exist, before anything reads the request: production has no such operation. */
export function onlyInSandbox({ environment }: Pick<ApiContext, 'environment'>): RequestHandler {
  return (_request, _response, next) => {
    if (environment === 'sandbox') return next();
    throw new ApiError('route_not_found', 'No operation has this path: it exists in the sandbox only.');
  };
}

/**
 * POST /merchant/sandbox/events: publishes an event of the merchant with the data of a sample, as the platform would.
 * Routers, filters, retries and disabling treat it like any other.
 */
export function triggerEvent(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const isDry = queryFlag(request, 'dry_run');
    const body: Triggered = request.body;
    checkEventNamed(body);
    const merchantId = String(response.locals.merchantId);
    const made = checked(context, eventOf(context, merchantId, body));
    const event = withData(made, made.data, response.locals.keyId);
    if (!isDry) {
      response.locals.eventIds = [event.eventId];
      await published(context.broker.publishEvents([event]));
    }
    sendJson(response, isDry ? 200 : 202, {
      event_uuid: event.eventId,
      subject_uuid: subjectIdOf(event) ?? event.entityId,
      entity_uuid: event.entityId,
      type: event.type,
      subType: event.subType,
      data: event.data,
    });
  };
}

function eventOf(context: ApiContext, merchantId: string, body: Triggered): DomainEvent {
  const eventId = context.random.uuid();
  const event = sampleEvent({
    eventId,
    seed: eventId,
    subject: body.subject ?? eventId,
    simulated: true,
    type: body.type,
    subType: body.subType,
    merchantId,
    ...entityOf(body),
    occurredAt: wholeNow(context.clock),
  });
  return { ...event, data: { ...event.data, ...body.data } };
}

/** Returns the event as a producer's would be decoded; throws a 400 that names what its data must not have. */
function checked(context: ApiContext, event: DomainEvent): DomainEvent {
  const decoded = decodeEventJson(eventToJson(event));
  if (!decoded.ok) throw refused(decoded.errors);
  const faults = contentFaults(decoded.event, context.clock.wall());
  if (faults.length > 0) throw refused(faults.map((fault) => ({ ...fault, code: 'invalid_value' })));
  return decoded.event;
}

function refused(errors: readonly FieldError[]): ApiError {
  const [first] = errors;
  return new ApiError('validation_error', `Nothing was published: ${first?.pointer} ${first?.detail}.`, {
    errors,
  });
}
