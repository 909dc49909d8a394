import { unpackId } from '../../../sqlite/ids.ts';
import type { EndpointChangeKind, FeedAttempt, FeedContent, FeedDelivery } from '../../feed.ts';
import {
  API_VERSION,
  CANCEL_REASON,
  EVENT_TYPE,
  FAILURE_CODE,
  SKIP_REASON,
  TRIGGER,
} from '../../log/codes.ts';
import type { TraceLine } from '../../log/trace-lines.ts';

export interface FeedRow {
  readonly seq: number;
  readonly kind: number;
  readonly ref: number;
  readonly detail: number | null;
  readonly at: number;
}

export interface EventHeadRow {
  readonly event_id: Uint8Array | string;
  readonly entity_id: Uint8Array | string;
  readonly type: number;
  readonly sub_type: string;
}

export interface DeliveryHeadRow extends EventHeadRow {
  readonly delivery_id: Uint8Array | string;
  readonly endpoint_id: string;
  readonly api_version: number;
  readonly trigger: number;
}

export interface FeedAttemptRow extends DeliveryHeadRow {
  readonly number: number;
  readonly attempts_max: number;
  readonly started_at: number;
  readonly duration_ms: number;
  readonly response_status: number | null;
  readonly failure_code: number | null;
  readonly failure_detail: string | null;
  readonly next_attempt_at: number | null;
}

export interface AuditRow {
  readonly endpoint_uuid: string;
  readonly action: string;
  readonly details: string;
}

function toHead(row: EventHeadRow) {
  return {
    eventId: unpackId(row.event_id),
    entityId: unpackId(row.entity_id),
    type: EVENT_TYPE.word(row.type),
    subType: row.sub_type,
  };
}

function toDelivery(row: DeliveryHeadRow): FeedDelivery {
  return {
    ...toHead(row),
    deliveryId: unpackId(row.delivery_id),
    endpointId: row.endpoint_id,
    apiVersion: API_VERSION.word(row.api_version),
    trigger: TRIGGER.word(row.trigger),
  };
}

/** The lines of a routing as they were: a line that was sent later says why it was skipped at first. */
export function toRouting(
  row: EventHeadRow,
  lines: readonly TraceLine[],
  endpointName: (endpoint: number) => string,
): FeedContent[] {
  const event = toHead(row);
  if (lines.length === 0) return [{ kind: 'skipped', event, endpointId: null, reason: 'no_endpoint' }];
  return lines.map((line) => {
    const endpointId = endpointName(line[0]);
    const skipped = line.length === 2 ? line[1] : line[5];
    if (skipped !== undefined)
      return { kind: 'skipped', event, endpointId, reason: SKIP_REASON.word(skipped) };
    return toRouted(event, endpointId, line as DeliveredLine);
  });
}

type DeliveredLine = Extract<TraceLine, readonly [number, 0, string, number, ...unknown[]]>;

/** A line as it is now: what a repeated routing has made of it. */
export function toLine(
  row: EventHeadRow,
  line: TraceLine,
  endpointName: (endpoint: number) => string,
): FeedContent {
  const [event, endpointId] = [toHead(row), endpointName(line[0])];
  if (line.length === 2) return { kind: 'skipped', event, endpointId, reason: SKIP_REASON.word(line[1]) };
  return toRouted(event, endpointId, line);
}

function toRouted(event: ReturnType<typeof toHead>, endpointId: string, line: DeliveredLine): FeedContent {
  const apiVersion = API_VERSION.word(line[3]);
  return {
    kind: 'routed',
    delivery: { ...event, deliveryId: line[2], endpointId, apiVersion, trigger: 'live' },
  };
}

export function toRequested(row: DeliveryHeadRow): FeedContent {
  return { kind: 'routed', delivery: toDelivery(row) };
}

export function toCancelled(row: DeliveryHeadRow, reason: number): FeedContent {
  return { kind: 'cancelled', delivery: toDelivery(row), reason: CANCEL_REASON.word(reason) };
}

export function toAttempted(row: FeedAttemptRow): FeedContent {
  const failureCode = row.failure_code === null ? null : FAILURE_CODE.word(row.failure_code);
  const attempt: FeedAttempt = {
    number: row.number,
    attemptsMax: row.attempts_max,
    outcome: outcomeOf(failureCode, row.next_attempt_at),
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    responseStatus: row.response_status,
    failureCode,
    failureDetail: row.failure_detail,
    nextAttemptAt: row.next_attempt_at,
  };
  return { kind: 'attempt', delivery: toDelivery(row), attempt };
}

function outcomeOf(
  failureCode: FeedAttempt['failureCode'],
  nextAttemptAt: number | null,
): FeedAttempt['outcome'] {
  if (failureCode === null) return 'delivered';
  if (nextAttemptAt !== null) return 'retry';
  return failureCode === 'endpoint_gone' ? 'refused' : 'exhausted';
}

const CHANGE_OF_ACTION: Readonly<Record<string, EndpointChangeKind>> = {
  'endpoint.create': 'created',
  'endpoint.update': 'updated',
  'endpoint.rotate': 'secret_rotated',
  'endpoint.delete': 'deleted',
  'endpoint.auto_disable': 'auto_disabled',
  'endpoint.adopt': 'restored',
};

export function toEndpointChanged(row: AuditRow): FeedContent {
  const change = CHANGE_OF_ACTION[row.action] ?? 'updated';
  const { status } = JSON.parse(row.details) as { readonly status?: string };
  const given = change === 'auto_disabled' ? 'auto_disabled' : (status ?? null);
  return { kind: 'endpoint_changed', endpointId: row.endpoint_uuid, change, status: given };
}
