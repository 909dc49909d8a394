import type { ResponseKept } from '../../../domain/attempt.ts';
import type { EventData } from '../../../domain/event.ts';
import { unpackId } from '../../../sqlite/ids.ts';
import {
  type AttemptColumns,
  type DeliveryColumns,
  type EventColumns,
  toAttemptRecord,
  toDeliveryRecord,
  toEventHead,
  toTrace,
} from '../../rows/log-records.ts';
import type { AttemptRecord, DeliveryLog, DeliveryRecord, EventListed } from '../../store.ts';

export interface DeliveryRow extends DeliveryColumns {
  readonly seq: number;
  readonly delivery_id: Uint8Array | string;
  readonly endpoint_id: string;
  readonly event_id: Uint8Array | string;
  readonly entity_id: Uint8Array | string;
}

/**
 * Selects a delivery with its event's head and its endpoint's name; the condition follows. CROSS JOIN keeps the order
 * written: from the endpoint's deliveries, in the index's order, to their events and names.
 */
export const SELECT_DELIVERY = `SELECT d.*, n.endpoint_id, ev.event_id, ev.entity_id, ev.sub_type,
  ev.occurred_at
  FROM delivery d CROSS JOIN event ev ON ev.seq = d.event CROSS JOIN log_endpoint n ON n.seq = d.endpoint`;

export function toDelivery(row: DeliveryRow): DeliveryRecord {
  return toDeliveryRecord(row, {
    deliveryId: unpackId(row.delivery_id),
    endpointId: row.endpoint_id,
    eventId: unpackId(row.event_id),
    entityId: unpackId(row.entity_id),
  });
}

export interface AttemptRow extends AttemptColumns {
  readonly response_status: number | null;
  readonly response_headers: string | null;
  readonly response_body: Uint8Array | null;
  readonly response_truncated: number | null;
}

export function toAttempt(row: AttemptRow, trigger: AttemptRecord['trigger']): AttemptRecord {
  return toAttemptRecord(row, trigger, toResponse(row));
}

function toResponse(row: AttemptRow): ResponseKept | null {
  if (row.response_status === null) return null;
  return {
    status: row.response_status,
    headers: JSON.parse(row.response_headers ?? '[]'),
    body: row.response_body ?? new Uint8Array(),
    bodyTruncated: row.response_truncated === 1,
  };
}

export interface EventRow extends EventColumns {
  readonly event_id: Uint8Array | string;
  readonly entity_id: Uint8Array | string;
  readonly published_by: Uint8Array | string | null;
  /** Null: the event's bodies were removed. */
  readonly data: string | null;
}

/** `endpointName` returns the endpoint behind the log's number. */
export function toEvent(
  row: EventRow,
  merchantId: string,
  endpointName: (endpoint: number) => string,
): NonNullable<Awaited<ReturnType<DeliveryLog['event']>>> {
  const data = row.data === null ? null : (JSON.parse(row.data) as EventData);
  return {
    event: { ...toHead(row, merchantId), data },
    routedAt: row.routed_at,
    trace: toTrace(row, endpointName),
  };
}

/** As `toEvent`, without the event's data. */
export function toListed(
  row: Omit<EventRow, 'data'> & { readonly created_at: number },
  merchantId: string,
  endpointName: (endpoint: number) => string,
): EventListed {
  return {
    event: toHead(row, merchantId),
    createdAt: row.created_at,
    routedAt: row.routed_at,
    trace: toTrace(row, endpointName),
  };
}

function toHead(row: Omit<EventRow, 'data'>, merchantId: string): EventListed['event'] {
  const [eventId, entityId] = [unpackId(row.event_id), unpackId(row.entity_id)];
  const publishedBy = row.published_by === null ? undefined : unpackId(row.published_by);
  return toEventHead(row, { eventId, merchantId, entityId, publishedBy });
}
