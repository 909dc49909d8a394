import type { ReceivedEvent, RouterResult } from '../broker/broker.ts';
import { NO_SEQUENCE } from '../domain/catalog/sequence.ts';
import { subjectIdOf } from '../domain/catalog/subject.ts';
import type { Directory } from '../domain/directory.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { type DomainEvent, eventAsText } from '../domain/event.ts';
import { deliveryId } from '../domain/ids.ts';
import type { RoutingVerdict } from '../domain/journal.ts';
import { takesEvents } from '../domain/merchant.ts';
import {
  aboutOf,
  type EventAbout,
  knownAbout,
  type QuarantineReason,
  refusalOf,
  refusalText,
} from '../domain/quarantine.ts';
import { ATTEMPTS_MAX } from '../domain/retry.ts';
import { routeTo } from '../domain/routing/route.ts';
import type { DeliveryTask } from '../domain/task.ts';

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
    quarantined(received, context, { ...event, ...aboutOf(event) }, reason, detail);
  const merchant = context.directory.merchant(event.merchantId);
  const isMerchantKnown = takesEvents(merchant);
  // What the producer was told stays true, even if the merchant was created since.
  const refusal = received.refusal ?? refusalOf(event, { ...context, isMerchantKnown });
  if (refusal || !merchant) {
    const reason = refusal ?? 'unknown_merchant';
    return refuse(reason, refusalText(reason, event, context.now));
  }

  const subjectId = subjectIdOf(event);
  const trace: RoutingVerdict[] = [];
  const tasks: DeliveryTask[] = [];
  const endpoints = context.directory.endpointsOf(event.merchantId);
  const routed = routeTo(event, merchant, endpoints, (endpoint, verdict) => {
    if (typeof verdict === 'string') {
      trace.push({ endpointId: endpoint.uuid, verdict });
      return;
    }
    const { apiVersion } = endpoint;
    const task = firstTask(received, { event, subjectId, endpoint, body: verdict });
    tasks.push(task);
    trace.push({
      endpointId: endpoint.uuid,
      verdict: 'delivered_to',
      deliveryId: task.deliveryId,
      apiVersion,
    });
  });
  if (routed.fault !== null) return refuse('schema_violation', routed.fault);
  const { bodies } = routed;
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
  known: EventAbout & {
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
  const record = { reason, detail, at: context.now, ...ids, ...knownAbout(known), ...by, bytes };
  return { kind: 'quarantined', record: origin === undefined ? record : { ...record, origin } };
}
