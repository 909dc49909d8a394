import type { ResponseKept } from '../../domain/attempt.ts';
import type { EventType } from '../../domain/event.ts';
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
import type { AttemptRecord, DeliveryOwner, DeliveryRecord, EventListed } from '../store.ts';

/* Rows of the log as records. `Id`: the form in which an engine keeps ids; `idOf` returns one as it was. */

export interface DeliveryColumns<Id> {
  readonly delivery_id: Id;
  readonly event_id: Id;
  readonly entity_id: Id;
  readonly subject_id: Id | null;
  readonly sequence: number;
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

function toDelivery<Id>(
  row: DeliveryColumns<Id>,
  { merchantId, endpointId }: DeliveryOwner,
  idOf: (id: Id) => string,
): DeliveryRecord {
  return {
    deliveryId: idOf(row.delivery_id),
    merchantId,
    endpointId,
    eventId: idOf(row.event_id),
    entityId: idOf(row.entity_id),
    subjectId: row.subject_id === null ? null : idOf(row.subject_id),
    sequence: row.sequence,
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

/** An attempt's columns, with its number and its response's body. */
export interface AttemptColumns {
  readonly number: number;
  readonly started_at: number;
  readonly duration_ms: number;
  readonly failure_code: number | null;
  readonly failure_detail: string | null;
  readonly next_attempt_at: number | null;
  readonly signature: string;
  readonly response_status: number | null;
  readonly truncated: number | null;
  readonly headers: string | null;
  readonly body: Uint8Array | null;
}

export function toAttempt(row: AttemptColumns, trigger: AttemptRecord['trigger']): AttemptRecord {
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

function toResponse(row: AttemptColumns): ResponseKept | null {
  if (row.response_status === null) return null;
  return {
    status: row.response_status,
    headers: JSON.parse(row.headers ?? '[]'),
    body: row.body ?? new Uint8Array(),
    bodyTruncated: row.truncated === 1,
  };
}

export interface EventColumns<Id> {
  readonly event_id: Id;
  readonly entity_id: Id;
  readonly subject_id: Id | null;
  readonly sequence: number;
  /** Null = it is not known who published it. */
  readonly published_by: Id | null;
  readonly entity_kind: number;
  readonly type: number;
  readonly sub_type: string;
  readonly occurred_at: number;
  readonly simulated: number;
  readonly routed_at: number;
  readonly trace: string;
}

function toEventHead<Id>(
  row: EventColumns<Id>,
  merchantId: string,
  idOf: (id: Id) => string,
): EventListed['event'] {
  return {
    eventId: idOf(row.event_id),
    merchantId,
    entityId: idOf(row.entity_id),
    publishedBy: row.published_by === null ? undefined : idOf(row.published_by),
    entityKind: ENTITY_KIND.word(row.entity_kind),
    // Notices are not routed.
    type: EVENT_TYPE.word(row.type) as EventType,
    subType: row.sub_type,
    occurredAt: row.occurred_at,
    simulated: row.simulated === 1,
  };
}

/** Returns what makes records of rows with ids in this form. */
export function recordsWith<Id>(idOf: (id: Id) => string) {
  return {
    toDelivery: (row: DeliveryColumns<Id>, owner: DeliveryOwner) => toDelivery(row, owner, idOf),
    /** `endpointName` returns the endpoint behind the log's number. */
    toListed: (
      row: EventColumns<Id> & { readonly created_at: number },
      merchantId: string,
      endpointName: (endpoint: number) => string,
    ): EventListed => ({
      event: toEventHead(row, merchantId, idOf),
      subjectId: row.subject_id === null ? null : idOf(row.subject_id),
      sequence: row.sequence,
      createdAt: row.created_at,
      routedAt: row.routed_at,
      trace: toTrace(row, endpointName),
    }),
  };
}

export function linesOf({ trace }: { readonly trace: string }): readonly TraceLine[] {
  return JSON.parse(trace) as TraceLine[];
}

function toTrace(row: { readonly trace: string }, endpointName: (endpoint: number) => string): TraceRecord[] {
  return linesOf(row).map((line) => toVerdict(line, endpointName(line[0])));
}

function toVerdict(line: TraceLine, endpointId: string): TraceRecord {
  if (line.length === 2) return { endpointId, verdict: SKIP_REASON.word(line[1]) };
  const apiVersion = API_VERSION.word(line[3]);
  const verdict = { endpointId, verdict: 'delivered_to', deliveryId: line[2], apiVersion } as const;
  return line[4] === 1 ? { ...verdict, byReplay: true } : verdict;
}
