import type { ResponseKept } from '../../../domain/attempt.ts';
import type { EventData } from '../../../domain/event.ts';
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
import type { AttemptRecord, DeliveryRecord, EventListed } from '../../store.ts';
import { idOf } from './packed-id.ts';

/** A row of `delivery`. */
export interface DeliveryRow {
  readonly seq: number;
  readonly created_at: number;
  readonly delivery_id: Buffer;
  readonly event_id: Buffer;
  readonly entity_id: Buffer;
  readonly occurred_at: number;
  readonly next_attempt_at: number | null;
  readonly last_attempt_at: number | null;
  readonly endpoint: number;
  readonly type: number;
  readonly api_version: number;
  readonly trigger: number;
  readonly status: number;
  readonly cancel_reason: number | null;
  readonly attempts_made: number;
  readonly attempts_max: number;
  readonly last_response_status: number | null;
  readonly last_failure_code: number | null;
  readonly parked: number | null;
  readonly removed: number;
  readonly sub_type: string;
}

export function toDelivery(row: DeliveryRow, endpointId: string): DeliveryRecord {
  return {
    deliveryId: idOf(row.delivery_id),
    endpointId,
    eventId: idOf(row.event_id),
    entityId: idOf(row.entity_id),
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

/** A row of `attempt`, with its number and its response's body. */
export interface AttemptRow {
  readonly number: number;
  readonly started_at: number;
  readonly duration_ms: number;
  readonly next_attempt_at: number | null;
  readonly response_status: number | null;
  readonly failure_code: number | null;
  readonly truncated: number | null;
  readonly failure_detail: string | null;
  readonly headers: string | null;
  readonly signature: string;
  readonly body: Buffer | null;
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
    headers: JSON.parse(row.headers ?? '[]'),
    body: row.body ?? new Uint8Array(),
    bodyTruncated: row.truncated === 1,
  };
}

/** A row of `event`. */
export interface EventRow {
  readonly seq: number;
  readonly created_at: number;
  readonly event_id: Buffer;
  readonly entity_id: Buffer;
  readonly entity_kind: number;
  readonly type: number;
  readonly sub_type: string;
  readonly occurred_at: number;
  readonly simulated: number;
  readonly routed_at: number;
  readonly removed_at: number | null;
  readonly trace: string;
}

export function toListed(
  row: EventRow,
  merchantId: string,
  endpointName: (endpoint: number) => string,
): EventListed {
  return {
    event: {
      eventId: idOf(row.event_id),
      merchantId,
      entityId: idOf(row.entity_id),
      entityKind: ENTITY_KIND.word(row.entity_kind),
      type: EVENT_TYPE.word(row.type),
      subType: row.sub_type,
      occurredAt: row.occurred_at,
      simulated: row.simulated === 1,
    },
    createdAt: row.created_at,
    routedAt: row.routed_at,
    trace: linesOf(row).map((line) => toVerdict(line, endpointName(line[0]))),
  };
}

export function toEventData(data: Buffer | undefined): EventData | null {
  return data === undefined ? null : (JSON.parse(data.toString()) as EventData);
}

export function linesOf({ trace }: Pick<EventRow, 'trace'>): readonly TraceLine[] {
  return JSON.parse(trace) as TraceLine[];
}

function toVerdict(line: TraceLine, endpointId: string): TraceRecord {
  if (line.length === 2) return { endpointId, verdict: SKIP_REASON.word(line[1]) };
  const apiVersion = API_VERSION.word(line[3]);
  const verdict = { endpointId, verdict: 'delivered_to', deliveryId: line[2], apiVersion } as const;
  return line[4] === 1 ? { ...verdict, byReplay: true } : verdict;
}
