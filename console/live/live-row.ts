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

/** The fields of an event that news, a delivery and a listed event share. */
interface About {
  readonly event_uuid: string;
  readonly type: string;
  readonly subType: string;
  readonly subject_uuid: string;
}

const aboutOf = ({ event_uuid: event, type, subType, subject_uuid: subject }: About) => ({
  ...{ event, type, subType, subject },
});

function skippedRow(about: About, at: string, endpoint: string | null, reason: string): Unordered {
  const key = `${about.event_uuid} ${endpoint}`;
  const result: Result = { kind: 'skipped', reason };
  return { ...aboutOf(about), key, at, endpoint, delivery: null, trigger: 'live', result };
}

export function rowOfNews(news: RowNews): Unordered {
  const { data } = news;
  const { at, endpoint_uuid: endpoint } = data;
  if (news.kind === 'skipped') return skippedRow(data, at, endpoint, news.data.reason);
  const { delivery_uuid: delivery, trigger } = news.data;
  return { ...aboutOf(data), at, endpoint, key: delivery, delivery, trigger, result: resultOf(news) };
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
  const { delivery_uuid: id, created_at: at, endpoint_uuid: endpoint, trigger } = delivery;
  const result = resultOfDelivery(delivery);
  return { ...aboutOf(delivery), key: id, at, endpoint, delivery: id, trigger, result };
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
  const { endpoints, routed_at: at } = event;
  if (endpoints.length === 0) return [skippedRow(event, at, null, 'no_endpoint')];
  return endpoints
    .filter(({ delivery_uuid, verdict }) => delivery_uuid === null && verdict !== 'routed')
    .map(({ endpoint_uuid, verdict }) => skippedRow(event, at, endpoint_uuid, verdict));
}

/** Returns whether something went wrong: an attempt failed, or a delivery was given up. */
export function isFailed({ result }: LiveRow): boolean {
  return result.kind === 'cancelled' || (result.kind === 'tried' && result.status !== 'delivered');
}
