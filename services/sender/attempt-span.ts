import { SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { Settlement } from '../broker/broker.ts';
import type { DeliveryTask } from '../domain/task.ts';
import { parentContextOf, spanContextOf, spanTime, traceparentOf } from '../telemetry/trace-context.ts';
import type { DeliverResult } from './deliver.ts';

type Made = Extract<DeliverResult, { kind: 'attempted' }>;

/**
 * Records the span of a finished attempt. All attempts of a delivery are children of its routing; each links to the
 * one before it, which may have been half a day ago. Returns the settlement with this span, so that the next attempt
 * can link to it.
 */
export function traceAttempt(tracer: Tracer, task: DeliveryTask, made: Made): Settlement {
  const { attempted, settlement } = made;
  const before = spanContextOf(task.linkedSpan);
  const span = tracer.startSpan(
    'POST webhook',
    {
      kind: SpanKind.CLIENT,
      startTime: spanTime(attempted.startedAt),
      attributes: attributesOf(task, made),
      links: before ? [{ context: before }] : [],
    },
    parentContextOf(task.traceparent),
  );
  if (attempted.failureCode !== null) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: attempted.failureCode });
  }
  span.end(spanTime(attempted.startedAt + attempted.durationMs));
  if (settlement.kind !== 'settled' || !settlement.next) return settlement;
  const linkedSpan = traceparentOf(span.spanContext());
  if (linkedSpan === undefined) return settlement;
  const traceparent = task.traceparent ?? linkedSpan;
  return { ...settlement, next: { ...settlement.next, traceparent, linkedSpan } };
}

/**
 * Returns attributes named by OpenTelemetry's semantic conventions. Of the URL only its host: a path may be a secret.
 */
function attributesOf(task: DeliveryTask, { attempted, origin }: Made) {
  const { hostname, port } = new URL(origin);
  const { response, failureCode, outcome } = attempted;
  return {
    'http.request.method': 'POST',
    'url.scheme': 'https',
    'server.address': hostname,
    'server.port': port === '' ? 443 : Number(port),
    ...(response ? { 'http.response.status_code': response.status } : {}),
    ...(failureCode === null ? {} : { 'error.type': failureCode }),
    'hookrail.delivery_id': task.deliveryId,
    'hookrail.event_id': task.eventId,
    'hookrail.event_type': task.type,
    'hookrail.merchant_id': task.merchantId,
    'hookrail.endpoint_id': task.endpointId,
    'hookrail.trigger': task.trigger,
    'hookrail.attempt': task.attempt,
    'hookrail.outcome': outcome.kind,
  };
}
