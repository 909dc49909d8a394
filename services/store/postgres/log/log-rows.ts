import type { ResponseKept } from '../../../domain/attempt.ts';
import {
  type AttemptColumns,
  type DeliveryColumns,
  type EventColumns,
  toAttemptRecord,
  toDeliveryRecord,
  toEventHead,
  toTrace,
} from '../../rows/log-records.ts';
import type { AttemptRecord, DeliveryRecord, EventListed } from '../../store.ts';
import { idOf } from '../client/packed-id.ts';

/** A row of `delivery`. */
export interface DeliveryRow extends DeliveryColumns {
  readonly seq: number;
  readonly delivery_id: Buffer;
  readonly event_id: Buffer;
  readonly entity_id: Buffer;
  readonly endpoint: number;
  readonly removed: number;
}

export function toDelivery(row: DeliveryRow, endpointId: string): DeliveryRecord {
  return toDeliveryRecord(row, {
    endpointId,
    deliveryId: idOf(row.delivery_id),
    eventId: idOf(row.event_id),
    entityId: idOf(row.entity_id),
  });
}

/** A row of `attempt`, with its number and its response's body. */
export interface AttemptRow extends AttemptColumns {
  readonly response_status: number | null;
  readonly truncated: number | null;
  readonly headers: string | null;
  readonly body: Buffer | null;
}

export function toAttempt(row: AttemptRow, trigger: AttemptRecord['trigger']): AttemptRecord {
  return toAttemptRecord(row, trigger, toResponse(row));
}

function toResponse(row: AttemptRow): ResponseKept | null {
  if (row.response_status === null) return null;
  return {
    status: row.response_status,
    headers: JSON.parse(row.headers ?? '[]'),
    body: row.body ?? new Uint8Array(),
    bodyTruncated: row.truncated === 1,
  };
}

/** A row of `event`. */
export interface EventRow extends EventColumns {
  readonly seq: number;
  readonly created_at: number;
  readonly event_id: Buffer;
  readonly entity_id: Buffer;
  readonly published_by: Buffer | null;
  readonly removed_at: number | null;
}

export function toListed(
  row: EventRow,
  merchantId: string,
  endpointName: (endpoint: number) => string,
): EventListed {
  return {
    event: toEventHead(row, {
      merchantId,
      eventId: idOf(row.event_id),
      entityId: idOf(row.entity_id),
      publishedBy: row.published_by === null ? undefined : idOf(row.published_by),
    }),
    createdAt: row.created_at,
    routedAt: row.routed_at,
    trace: toTrace(row, endpointName),
  };
}
