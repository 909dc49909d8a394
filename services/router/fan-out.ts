import type { ReceivedEvent, RouterResult } from '../broker/broker.ts';
import { NO_SEQUENCE } from '../domain/catalog/sequence.ts';
import { subjectIdOf } from '../domain/catalog/subject.ts';
import type { Directory } from '../domain/directory.ts';
import { type ApiVersion, type Endpoint, subscribes } from '../domain/endpoint.ts';
import { type DomainEvent, eventAsText } from '../domain/event.ts';
import { deliveryId } from '../domain/ids.ts';
import type { RoutingVerdict, SkipReason } from '../domain/journal.ts';
import type { Merchant } from '../domain/merchant.ts';
import { type QuarantineReason, refusalOf, refusalText } from '../domain/quarantine.ts';
import { ATTEMPTS_MAX } from '../domain/retry.ts';
import type { DeliveryTask } from '../domain/task.ts';
import { type Rendered, renderBody } from '../domain/versions/render.ts';

export interface FanOutContext {
  readonly directory: Directory;
  /** Production refuses simulated events. */
  readonly acceptsSimulated: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Event × endpoints → tasks and the routing trace, or the reason why the event cannot be routed. Pure: the same event
 * and table give the same ids and bytes, so routing an event again after a crash creates nothing new.
 */
export function fanOut(received: ReceivedEvent, context: FanOutContext): RouterResult {
  const { decoded } = received;
  if (received.isRepeat) return { kind: 'repeated' };
  if (!decoded.ok) return quarantined(received, context, decoded, decoded.reason, decoded.detail);
  const { event } = decoded;
  const refuse = (reason: QuarantineReason, detail: string) =>
    quarantined(received, context, event, reason, detail);
  const merchant = context.directory.merchant(event.merchantId);
  const isMerchantKnown = merchant !== undefined;
  // What the producer was told stays true, even if the merchant was created since.
  const refusal = received.refusal ?? refusalOf(event, { ...context, isMerchantKnown });
  if (refusal || !merchant) {
    const reason = refusal ?? 'unknown_merchant';
    return refuse(reason, refusalText(reason, event, context.now));
  }

  const subjectId = subjectIdOf(event);
  const known: Partial<Record<ApiVersion, Rendered>> = {};
  const bodies: { apiVersion: ApiVersion; body: Uint8Array }[] = [];
  const trace: RoutingVerdict[] = [];
  const tasks: DeliveryTask[] = [];
  for (const endpoint of context.directory.endpointsOf(event.merchantId)) {
    const skip = whyNot(endpoint, event);
    if (skip) {
      trace.push({ endpointId: endpoint.uuid, verdict: skip });
      continue;
    }
    const { apiVersion } = endpoint;
    let rendered = known[apiVersion];
    if (!rendered) {
      rendered = renderFor(event, apiVersion, merchant);
      known[apiVersion] = rendered;
      if (rendered.kind === 'rendered') bodies.push({ apiVersion, body: rendered.body });
    }
    if (rendered.kind === 'invalid')
      return refuse('schema_violation', `${rendered.pointer}: ${rendered.detail}`);
    if (rendered.kind === 'skipped') {
      trace.push({ endpointId: endpoint.uuid, verdict: rendered.reason });
      continue;
    }
    const task = firstTask(received, { event, subjectId, endpoint, body: rendered.body });
    tasks.push(task);
    trace.push({
      endpointId: endpoint.uuid,
      verdict: 'delivered_to',
      deliveryId: task.deliveryId,
      apiVersion,
    });
  }
  return {
    kind: 'routed',
    tasks,
    journal: {
      kind: 'routed',
      at: context.now,
      acceptedAt: received.acceptedAt,
      event: eventAsText(event),
      subjectId,
      bodies,
      trace,
    },
  };
}

/** Checks status and filter; the renderer checks whether the version has the event. */
function whyNot(endpoint: Endpoint, event: DomainEvent): SkipReason | null {
  if (endpoint.status === 'disabled') return 'endpoint_disabled';
  if (endpoint.status === 'auto_disabled') return 'endpoint_auto_disabled';
  return subscribes(endpoint, event.type) ? null : 'filtered';
}

function renderFor(event: DomainEvent, version: ApiVersion, merchant: Merchant): Rendered {
  return renderBody(event, version, { senderAccountDetails: merchant.senderAccountDetails });
}

function firstTask(
  received: ReceivedEvent,
  {
    event,
    subjectId,
    endpoint,
    body,
  }: {
    readonly event: DomainEvent;
    readonly subjectId: string | null;
    readonly endpoint: Endpoint;
    readonly body: Uint8Array;
  },
): DeliveryTask {
  const task: DeliveryTask = {
    deliveryId: deliveryId(event.eventId, endpoint.uuid),
    eventId: event.eventId,
    merchantId: event.merchantId,
    endpointId: endpoint.uuid,
    entityId: event.entityId,
    subjectId,
    sequence: event.sequence ?? NO_SEQUENCE,
    type: event.type,
    subType: event.subType,
    apiVersion: endpoint.apiVersion,
    trigger: 'live',
    attempt: 1,
    attemptsMax: ATTEMPTS_MAX,
    dueAt: 0,
    hop: 0,
    occurredAt: event.occurredAt,
    acceptedAt: received.acceptedAt,
    body,
  };
  return received.traceparent === undefined ? task : { ...task, traceparent: received.traceparent };
}

function quarantined(
  received: ReceivedEvent,
  context: FanOutContext,
  known: {
    readonly eventId?: string;
    readonly merchantId?: string;
    readonly publishedBy?: string | undefined;
  },
  reason: QuarantineReason,
  detail: string,
): RouterResult {
  const { bytes, origin } = received;
  const ids = { eventId: known.eventId ?? null, merchantId: known.merchantId ?? null };
  const { publishedBy } = known;
  const by = publishedBy === undefined ? {} : { publishedBy };
  const record = { reason, detail, at: context.now, ...ids, ...by, bytes };
  return { kind: 'quarantined', record: origin === undefined ? record : { ...record, origin } };
}
