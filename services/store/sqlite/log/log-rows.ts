import type { ResponseKept } from '../../../domain/attempt.ts';
import type { ApiVersion } from '../../../domain/endpoint.ts';
import type { EventData } from '../../../domain/event.ts';
import { unpackId } from '../../../sqlite/ids.ts';
import {
  API_VERSION,
  CANCEL_REASON,
  ENTITY_KIND,
  EVENT_TYPE,
  FAILURE_CODE,
  PARKED_REASON,
  SKIP_REASON,
  STATUS,
  TRIGGER,
} from '../../log/codes.ts';
import type { TraceLine } from '../../log/trace-lines.ts';
import type { TraceRecord } from '../../replays.ts';
import type { AttemptRecord, DeliveryLog, DeliveryRecord, EventListed } from '../../store.ts';

export interface DeliveryRow {
  readonly seq: number;
  readonly delivery_id: Uint8Array | string;
  readonly endpoint_id: string;
  readonly event_id: Uint8Array | string;
  readonly entity_id: Uint8Array | string;
  readonly sub_type: string;
  readonly occurred_at: number;
  readonly type: number;
  readonly api_version: number;
  readonly trigger: number;
  readonly status: number;
  readonly cancel_reason: number | null;
  readonly attempts_made: number;
  readonly attempts_max: number;
  readonly created_at: number;
  readonly next_attempt_at: number | null;
  readonly last_attempt_at: number | null;
  readonly last_response_status: number | null;
  readonly last_failure_code: number | null;
  readonly parked: number | null;
}

/**
 * Selects a delivery with its event's head and its endpoint's name; the condition follows. CROSS JOIN keeps the order
 * written: from the endpoint's deliveries, in the index's order, to their events and names.
 */
export const SELECT_DELIVERY = `SELECT d.*, n.endpoint_id, ev.event_id, ev.entity_id, ev.sub_type,
  ev.occurred_at
  FROM delivery d CROSS JOIN event ev ON ev.seq = d.event CROSS JOIN log_endpoint n ON n.seq = d.endpoint`;

export function toDelivery(row: DeliveryRow): DeliveryRecord {
  return {
    deliveryId: unpackId(row.delivery_id),
    endpointId: row.endpoint_id,
    eventId: unpackId(row.event_id),
    entityId: unpackId(row.entity_id),
    type: EVENT_TYPE.word(row.type),
    subType: row.sub_type,
    apiVersion: API_VERSION.word(row.api_version),
    trigger: TRIGGER.word(row.trigger),
    status: STATUS.word(row.status),
    cancelReason: row.cancel_reason === null ? null : CANCEL_REASON.word(row.cancel_reason),
    attemptsMade: row.attempts_made,
    attemptsMax: row.attempts_max,
    occurredAt: row.occurred_at,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at,
    lastAttemptAt: row.last_attempt_at,
    lastResponseStatus: row.last_response_status,
    lastFailureCode: row.last_failure_code === null ? null : FAILURE_CODE.word(row.last_failure_code),
    parkedReason: row.parked === null ? null : PARKED_REASON.word(row.parked),
  };
}

export interface AttemptRow {
  readonly number: number;
  readonly started_at: number;
  readonly duration_ms: number;
  readonly response_status: number | null;
  readonly response_headers: string | null;
  readonly response_body: Uint8Array | null;
  readonly response_truncated: number | null;
  readonly failure_code: number | null;
  readonly failure_detail: string | null;
  readonly next_attempt_at: number | null;
  readonly signature: string;
}

export function toAttempt(row: AttemptRow, trigger: AttemptRecord['trigger']): AttemptRecord {
  return {
    number: row.number,
    trigger,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    response: toResponse(row),
    failureCode: row.failure_code === null ? null : FAILURE_CODE.word(row.failure_code),
    failureDetail: row.failure_detail,
    nextAttemptAt: row.next_attempt_at,
    signature: row.signature,
  };
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

export interface EventRow {
  readonly event_id: Uint8Array | string;
  readonly entity_id: Uint8Array | string;
  readonly entity_kind: number;
  readonly type: number;
  readonly sub_type: string;
  readonly occurred_at: number;
  readonly simulated: number;
  readonly routed_at: number;
  readonly trace: string;
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
    trace: toTrace(row.trace, endpointName),
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
    trace: toTrace(row.trace, endpointName),
  };
}

function toHead(row: Omit<EventRow, 'data'>, merchantId: string): EventListed['event'] {
  return {
    eventId: unpackId(row.event_id),
    merchantId,
    entityId: unpackId(row.entity_id),
    entityKind: ENTITY_KIND.word(row.entity_kind),
    type: EVENT_TYPE.word(row.type),
    subType: row.sub_type,
    occurredAt: row.occurred_at,
    simulated: row.simulated === 1,
  };
}

function toTrace(trace: string, endpointName: (endpoint: number) => string): TraceRecord[] {
  return (JSON.parse(trace) as TraceLine[]).map((line) => toVerdict(line, endpointName(line[0])));
}

function toVerdict(line: TraceLine, endpointId: string): TraceRecord {
  if (line.length === 2) return { endpointId, verdict: SKIP_REASON.word(line[1]) };
  const apiVersion: ApiVersion = API_VERSION.word(line[3]);
  const verdict = { endpointId, verdict: 'delivered_to', deliveryId: line[2], apiVersion } as const;
  return line[4] === 1 ? { ...verdict, byReplay: true } : verdict;
}
