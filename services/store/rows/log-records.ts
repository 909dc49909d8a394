import type { ResponseKept } from '../../domain/attempt.ts';
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
} from '../log/codes.ts';
import type { TraceLine } from '../log/trace-lines.ts';
import type { TraceRecord } from '../replays.ts';
import type { AttemptRecord, DeliveryRecord, EventListed } from '../store.ts';

/* Rows of the log as records. Each engine keeps ids in its own form, and gives them as they were. */

/** A delivery's columns, but for its ids. */
export interface DeliveryColumns {
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

type DeliveryIds = Pick<DeliveryRecord, 'deliveryId' | 'endpointId' | 'eventId' | 'entityId'>;

export function toDeliveryRecord(row: DeliveryColumns, ids: DeliveryIds): DeliveryRecord {
  return {
    ...ids,
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

/** An attempt's columns, with its number. */
export interface AttemptColumns {
  readonly number: number;
  readonly started_at: number;
  readonly duration_ms: number;
  readonly failure_code: number | null;
  readonly failure_detail: string | null;
  readonly next_attempt_at: number | null;
  readonly signature: string;
}

export function toAttemptRecord(
  row: AttemptColumns,
  trigger: AttemptRecord['trigger'],
  response: ResponseKept | null,
): AttemptRecord {
  return {
    number: row.number,
    trigger,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    response,
    failureCode: row.failure_code === null ? null : FAILURE_CODE.word(row.failure_code),
    failureDetail: row.failure_detail,
    nextAttemptAt: row.next_attempt_at,
    signature: row.signature,
  };
}

/** An event's columns, but for its ids. */
export interface EventColumns {
  readonly entity_kind: number;
  readonly type: number;
  readonly sub_type: string;
  readonly occurred_at: number;
  readonly simulated: number;
  readonly routed_at: number;
  readonly trace: string;
}

type EventIds = Pick<EventListed['event'], 'eventId' | 'merchantId' | 'entityId' | 'publishedBy'>;

export function toEventHead(row: EventColumns, ids: EventIds): EventListed['event'] {
  return {
    ...ids,
    entityKind: ENTITY_KIND.word(row.entity_kind),
    type: EVENT_TYPE.word(row.type),
    subType: row.sub_type,
    occurredAt: row.occurred_at,
    simulated: row.simulated === 1,
  };
}

export function linesOf({ trace }: Pick<EventColumns, 'trace'>): readonly TraceLine[] {
  return JSON.parse(trace) as TraceLine[];
}

/** `endpointName` returns the endpoint behind the log's number. */
export function toTrace(
  row: Pick<EventColumns, 'trace'>,
  endpointName: (endpoint: number) => string,
): TraceRecord[] {
  return linesOf(row).map((line) => toVerdict(line, endpointName(line[0])));
}

function toVerdict(line: TraceLine, endpointId: string): TraceRecord {
  if (line.length === 2) return { endpointId, verdict: SKIP_REASON.word(line[1]) };
  const apiVersion = API_VERSION.word(line[3]);
  const verdict = { endpointId, verdict: 'delivered_to', deliveryId: line[2], apiVersion } as const;
  return line[4] === 1 ? { ...verdict, byReplay: true } : verdict;
}
