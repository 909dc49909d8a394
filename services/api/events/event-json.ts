import type { TraceRecord } from '../../store/replays.ts';
import type { EventListed } from '../../store/store.ts';
import { timestamp } from '../endpoint-json.ts';
import { subjectJson } from '../find/subject-json.ts';

/** The merchant's word for "a delivery was made": whether it arrived is the delivery's status. */
export const ROUTED = 'routed';

/** Returns an event as the lists have it. */
export function eventJson({ event, subjectId, sequence, createdAt, routedAt, trace }: EventListed) {
  return {
    event_uuid: event.eventId,
    type: event.type,
    subType: event.subType,
    ...subjectJson({ ...event, subjectId, sequence }),
    entity_kind: event.entityKind,
    occurred_at: timestamp(event.occurredAt),
    created_at: timestamp(createdAt),
    routed_at: timestamp(routedAt),
    simulated: event.simulated,
    endpoints: trace.map(lineJson),
  };
}

function lineJson(line: TraceRecord) {
  const { endpointId: endpoint_uuid } = line;
  if (line.verdict !== 'delivered_to') return { endpoint_uuid, verdict: line.verdict, delivery_uuid: null };
  return { endpoint_uuid, verdict: ROUTED, delivery_uuid: line.deliveryId };
}
