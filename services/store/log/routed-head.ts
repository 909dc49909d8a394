import { NO_SEQUENCE } from '../../domain/catalog/sequence.ts';
import type { DeliveryHead, Routed } from '../../domain/journal.ts';
import { ATTEMPTS_MAX } from '../../domain/retry.ts';

type DeliveredLine = Extract<Routed['trace'][number], { readonly verdict: 'delivered_to' }>;

/** Returns the head of a delivery made by routing. */
export function headOf({ event, subjectId, acceptedAt }: Routed, line: DeliveredLine): DeliveryHead {
  return {
    deliveryId: line.deliveryId,
    eventId: event.eventId,
    merchantId: event.merchantId,
    endpointId: line.endpointId,
    entityId: event.entityId,
    subjectId,
    sequence: event.sequence ?? NO_SEQUENCE,
    type: event.type,
    subType: event.subType,
    apiVersion: line.apiVersion,
    trigger: 'live',
    attempt: 1,
    attemptsMax: ATTEMPTS_MAX,
    occurredAt: event.occurredAt,
    acceptedAt,
  };
}
