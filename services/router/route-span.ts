import { type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { ReceivedEvent, RouterResult } from '../broker/broker.ts';
import { parentContextOf, spanTime, traceparentOf } from '../telemetry/trace-context.ts';

/** A repeated event has no span: the first routing has one. */
type Decided = Exclude<RouterResult, { kind: 'repeated' }>;

/**
 * Records the span of an event's routing, which continues the producer's trace or begins one. The tasks, and so their
 * attempts, continue it. Times are milliseconds since the epoch.
 */
export function traceRoute(
  tracer: Tracer,
  received: ReceivedEvent,
  result: Decided,
  { startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number },
): Decided {
  const options = {
    kind: SpanKind.CONSUMER,
    startTime: spanTime(startedAt),
    attributes: attributesOf(result),
  };
  const span = tracer.startSpan('route event', options, parentContextOf(received.traceparent));
  if (result.kind === 'quarantined') span.setStatus({ code: SpanStatusCode.ERROR, message: 'quarantined' });
  span.end(spanTime(endedAt));
  return result.kind === 'routed' ? continued(result, span) : result;
}

function continued(result: Extract<RouterResult, { kind: 'routed' }>, span: Span): Decided {
  const traceparent = traceparentOf(span.spanContext());
  if (traceparent === undefined) return result;
  return { ...result, tasks: result.tasks.map((task) => ({ ...task, traceparent })) };
}

function attributesOf(result: Decided) {
  const operation = { 'messaging.operation.type': 'process' };
  if (result.kind === 'quarantined') {
    const { reason, eventId, merchantId, publishedBy } = result.record;
    return {
      ...operation,
      'error.type': reason,
      ...(eventId === null ? {} : { 'hookrail.event_id': eventId }),
      ...(merchantId === null ? {} : { 'hookrail.merchant_id': merchantId }),
      ...(publishedBy === undefined ? {} : { 'hookrail.published_by': publishedBy }),
    };
  }
  const { event } = result.journal;
  return {
    ...operation,
    'hookrail.event_id': event.eventId,
    'hookrail.merchant_id': event.merchantId,
    'hookrail.event_type': event.type,
    'hookrail.deliveries': result.tasks.length,
    ...(event.publishedBy === undefined ? {} : { 'hookrail.published_by': event.publishedBy }),
  };
}
