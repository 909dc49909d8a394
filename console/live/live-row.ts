import { STATUS_AFTER } from '../../client/delivery-status.ts';
import type { StreamNews } from '../../client/merchant-stream.ts';
import type { Delivery, EventListed } from '../api/shapes.ts';

/** The result of an event at an endpoint, as far as it is known. */
export type Result =
  | { readonly kind: 'pending' }
  | { readonly kind: 'skipped'; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly reason: string }
  | {
      readonly kind: 'tried';
      readonly status: 'delivered' | 'failed' | 'exhausted' | 'refused';
      readonly answered: number | null;
      readonly failure: string | null;
      readonly durationMs: number | null;
      readonly attempt: number;
      readonly attemptsMax: number;
      readonly nextAt: string | null;
    };

/** A delivery, or the event that an endpoint did not get. */
export interface LiveRow {
  readonly key: string;
  /** Grows with each row: newer rows have a higher one. */
  readonly order: number;
  readonly at: string;
  readonly event: string;
  readonly type: string;
  readonly subType: string;
  readonly subject: string;
  readonly endpoint: string | null;
  readonly delivery: string | null;
  /** `live`, or why it was requested. */
  readonly trigger: string;
  readonly result: Result;
}

export type Unordered = Omit<LiveRow, 'order'>;

type RowNews = Extract<StreamNews, { kind: 'routed' | 'skipped' | 'attempt' | 'cancelled' }>;

export function isRowNews(news: StreamNews): news is RowNews {
  return ['routed', 'skipped', 'attempt', 'cancelled'].includes(news.kind);
}

export function rowOfNews(news: RowNews): Unordered {
  const { data } = news;
  const about = {
    at: data.at,
    event: data.event_uuid,
    type: data.type,
    subType: data.subType,
    subject: data.subject_uuid,
    endpoint: data.endpoint_uuid,
  };
  if (news.kind === 'skipped') {
    const key = `${about.event} ${about.endpoint}`;
    const result: Result = { kind: 'skipped', reason: news.data.reason };
    return { ...about, key, delivery: null, trigger: 'live', result };
  }
  const { delivery_uuid: delivery, trigger } = news.data;
  return { ...about, key: delivery, delivery, trigger, result: resultOf(news) };
}

function resultOf(news: Exclude<RowNews, { kind: 'skipped' }>): Result {
  if (news.kind === 'routed') return { kind: 'pending' };
  if (news.kind === 'cancelled') return { kind: 'cancelled', reason: news.data.reason };
  const { outcome, response_status, failure_code, duration_ms, attempt, attempts_max, next_attempt_at } =
    news.data;
  return {
    kind: 'tried',
    status: STATUS_AFTER[outcome] ?? 'failed',
    answered: response_status,
    failure: failure_code,
    durationMs: duration_ms,
    attempt,
    attemptsMax: attempts_max,
    nextAt: next_attempt_at,
  };
}

export function rowOfDelivery(delivery: Delivery): Unordered {
  return {
    key: delivery.delivery_uuid,
    at: delivery.created_at,
    event: delivery.event_uuid,
    type: delivery.type,
    subType: delivery.subType,
    subject: delivery.subject_uuid,
    endpoint: delivery.endpoint_uuid,
    delivery: delivery.delivery_uuid,
    trigger: delivery.trigger,
    result: resultOfDelivery(delivery),
  };
}

function resultOfDelivery(delivery: Delivery): Result {
  const { status, attempts_made: attempt, cancel_reason: reason } = delivery;
  if (status === 'cancelled') return { kind: 'cancelled', reason: reason ?? 'cancelled' };
  if (status === 'pending' || attempt === 0) return { kind: 'pending' };
  return {
    kind: 'tried',
    status: status as 'delivered',
    answered: delivery.last_response_status,
    failure: delivery.last_failure_code,
    durationMs: null,
    attempt,
    attemptsMax: delivery.attempts_max,
    nextAt: delivery.next_attempt_at,
  };
}

/** The endpoints that did not get an event; one row where there was none. */
export function skippedRows(event: EventListed): readonly Unordered[] {
  const about = {
    at: event.routed_at,
    event: event.event_uuid,
    type: event.type,
    subType: event.subType,
    subject: event.subject_uuid,
    delivery: null,
    trigger: 'live',
  };
  const row = (endpoint: string | null, reason: string): Unordered => ({
    ...about,
    key: `${about.event} ${endpoint}`,
    endpoint,
    result: { kind: 'skipped', reason },
  });
  if (event.endpoints.length === 0) return [row(null, 'no_endpoint')];
  return event.endpoints
    .filter(({ delivery_uuid, verdict }) => delivery_uuid === null && verdict !== 'routed')
    .map(({ endpoint_uuid, verdict }) => row(endpoint_uuid, verdict));
}

/** Returns whether something went wrong: an attempt failed, or a delivery was given up. */
export function isFailed({ result }: LiveRow): boolean {
  return result.kind === 'cancelled' || (result.kind === 'tried' && result.status !== 'delivered');
}
