import type { FeedDelivery, FeedEntry, FeedPage } from '../../store/feed.ts';
import { timestamp, timestampOrNull } from '../endpoint-json.ts';
import { subjectJson } from '../find/subject-json.ts';
import { rounded } from '../routes/read-deliveries.ts';

/**
 * Why a stream ended; sent as its last event, unless the client has left. A client resumes with the last id that it has.
 */
export type EndReason =
  | 'too_slow'
  | 'key_revoked'
  | 'shutting_down'
  | 'time_is_up'
  | 'unavailable'
  | 'replaced'
  | 'client_left';

/** How long clients wait before they connect again, milliseconds. */
const RECONNECT_MS = 1000;
/**
 * The same for a stream that ended for a newer one of its key: it would end another one in turn, and that one again, so
 * they take turns slowly.
 */
const RECONNECT_REPLACED_MS = 60_000;

/**
 * The first bytes of a stream: the position from which it goes on, so that a client that is cut off before the first
 * event loses nothing. An id without data is no event.
 */
export function openingText(position: string): string {
  return `retry: ${RECONNECT_MS}\nid: ${position}\n: the stream is open\n\n`;
}

export const HEARTBEAT = ': heartbeat\n\n';

export function endText(reason: EndReason): string {
  const retry = reason === 'replaced' ? `retry: ${RECONNECT_REPLACED_MS}\n` : '';
  return retry + eventText('end', { reason });
}

/** A page as server-sent events. A gap has an id only where no event follows that has one. */
export function pageText({ entries, gap, next }: FeedPage): string {
  const missing =
    gap === null ? '' : eventText('gap', { reason: gap }, entries.length > 0 ? undefined : next);
  return missing + entries.map((entry) => eventText(entry.kind, dataOf(entry), entry.position)).join('');
}

/**
 * A page with the entries that a reader wants. Where the last ones are left out, an id says up to where the page goes: a
 * reader that continues is not sent what it did not want again.
 */
export function wantedText(page: FeedPage, isWanted: (entry: FeedEntry) => boolean): string {
  const entries = page.entries.filter(isWanted);
  const isWhole = entries.at(-1) === page.entries.at(-1) && entries.length > 0;
  return `${pageText({ ...page, entries })}${isWhole ? '' : `id: ${page.next}\n\n`}`;
}

/** JSON has no line breaks, so an event's data is one line. */
function eventText(name: string, data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function dataOf(entry: FeedEntry): object {
  const at = timestamp(entry.at);
  switch (entry.kind) {
    case 'routed':
      return { at, ...deliveryJson(entry.delivery), ...sentJson(entry) };
    case 'skipped':
      return {
        at,
        event_uuid: entry.event.eventId,
        endpoint_uuid: entry.endpointId,
        ...subjectJson(entry.event),
        type: entry.event.type,
        subType: entry.event.subType,
        reason: entry.reason,
      };
    case 'attempt':
      return { at, ...deliveryJson(entry.delivery), ...attemptJson(entry.attempt) };
    case 'cancelled':
      return { at, ...deliveryJson(entry.delivery), reason: entry.reason };
    case 'endpoint_changed':
      return { at, endpoint_uuid: entry.endpointId, change: entry.change, status: entry.status };
  }
}

function deliveryJson(delivery: FeedDelivery) {
  return {
    delivery_uuid: delivery.deliveryId,
    event_uuid: delivery.eventId,
    endpoint_uuid: delivery.endpointId,
    ...subjectJson(delivery),
    type: delivery.type,
    subType: delivery.subType,
    api_version: delivery.apiVersion,
    trigger: delivery.trigger,
  };
}

function sentJson({ sent }: Extract<FeedEntry, { kind: 'routed' }>) {
  return sent === undefined ? {} : { body: sent.body, body_removed: sent.bodyRemoved };
}

function attemptJson(attempt: Extract<FeedEntry, { kind: 'attempt' }>['attempt']) {
  return {
    attempt: attempt.number,
    attempts_max: attempt.attemptsMax,
    outcome: attempt.outcome,
    started_at: timestamp(attempt.startedAt),
    duration_ms: rounded(attempt.durationMs),
    response_status: attempt.responseStatus,
    failure_code: attempt.failureCode,
    failure_detail: attempt.failureDetail,
    next_attempt_at: timestampOrNull(attempt.nextAttemptAt),
  };
}
