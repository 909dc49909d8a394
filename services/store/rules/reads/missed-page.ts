import { EVENT_TYPE } from '../../log/codes.ts';
import { becauseOf, isWanted } from '../../log/missed-page.ts';
import type { MissedEvent, ReplayScope, Replays } from '../../replays.ts';
import type { Statements } from '../../sql/statements.ts';
import { PAGE_MAX } from './page.ts';

/** Endpoints examined in one page, most of which have missed nothing. */
const ENDPOINTS_MAX = 500;

/** The place of a missed event of one endpoint. */
export interface MissedPlace {
  readonly createdAt: number;
  /** The event as the engine numbers it; empty: before the first one of that time. */
  readonly event: string;
}

/** An endpoint that the log knows, by numbers. */
export interface LoggedEndpoint {
  readonly endpoint: number;
  readonly merchant: number;
}

export interface MissedRow extends MissedPlace {
  readonly eventId: string;
  /** Null when the event is no longer kept. */
  readonly type: number | null;
  readonly subType: string;
  /** Null when it was skipped. */
  readonly deliveryId: string | null;
  /** Null when the delivery is no longer kept. */
  readonly status: number | null;
}

/** Reads what an endpoint has missed after a place, in the order of places; or the events of its merchant, all of them. */
export type MissedBy = (
  statements: Statements,
  endpoint: LoggedEndpoint,
  after: MissedPlace,
  range: { readonly until: number; readonly limit: number },
) => Promise<readonly MissedRow[]>;

/** An engine's own statements. */
export interface ReplayReads {
  readonly missedBy: MissedBy;
  /** Rows without deliveries. */
  readonly routedTo: MissedBy;
}

interface PageStart extends MissedPlace {
  /** An endpoint's row. */
  readonly endpoint: number;
}

/** An endpoint and its numbers in the log; null when the log does not know it. */
interface ScopeEndpoint {
  readonly seq: number;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly logged: number | null;
  readonly merchant: number | null;
}

/** Returns a page of what the endpoints of a replay's scope have missed. */
export async function missedPage(
  statements: Statements,
  { missedBy, routedTo }: ReplayReads,
  ...[scope, place, limit]: Parameters<Replays['missed']>
): ReturnType<Replays['missed']> {
  const beginning = { endpoint: 0, createdAt: scope.since, event: '' };
  const from = place === null ? beginning : parsePlace(place);
  const read = scope.only === 'all' ? routedTo : missedBy;
  const endpoints = await endpointsFrom(statements, scope, from.endpoint);
  const events: MissedEvent[] = [];
  let next: PageStart = from;
  let left = Math.min(limit, PAGE_MAX);
  for (const endpoint of endpoints) {
    const start = endpoint.seq === from.endpoint ? from : { ...beginning, endpoint: endpoint.seq };
    const { logged, merchant } = endpoint;
    const range = { until: scope.until, limit: left };
    const rows =
      logged === null || merchant === null
        ? []
        : await read(statements, { endpoint: logged, merchant }, start, range);
    for (const row of rows) {
      const event = toMissed(row, endpoint, scope);
      if (event && isWanted(event, scope)) events.push(event);
    }
    const { createdAt, event } = rows.at(-1) ?? start;
    next = { endpoint: endpoint.seq, createdAt, event };
    left -= rows.length;
    if (left === 0) return { events, next: formatPlace(next), isLast: false };
  }
  const isLast = scope.endpointId !== null || endpoints.length < ENDPOINTS_MAX;
  return { events, next: formatPlace(next), isLast };
}

function endpointsFrom(
  { rows }: Statements,
  { endpointId, merchantId }: ReplayScope,
  from: number,
): Promise<readonly ScopeEndpoint[]> {
  if (endpointId !== null) return rows(scopeSql('e.uuid = $1'), [endpointId]);
  if (merchantId === null) return rows(scopeSql("e.status = 'active' AND e.seq >= $1"), [from]);
  return rows(scopeSql("e.status = 'active' AND e.seq >= $1 AND e.merchant_id = $2"), [from, merchantId]);
}

/** Returns the SELECT of a page of endpoints; exposed for its query plan. */
export function scopeSql(condition: string): string {
  return `SELECT e.seq, e.uuid AS "endpointId", e.merchant_id AS "merchantId", n.seq AS logged, n.merchant
    FROM endpoint e LEFT JOIN log_endpoint n ON n.endpoint_id = e.uuid
    WHERE e.deleted_at IS NULL AND ${condition} ORDER BY e.seq LIMIT ${ENDPOINTS_MAX}`;
}

/** Returns null when the delivery is in progress, or the event or delivery is no longer kept. */
function toMissed(
  row: MissedRow,
  { endpointId, merchantId }: ScopeEndpoint,
  { only }: ReplayScope,
): MissedEvent | null {
  const { eventId, type, subType, deliveryId, status } = row;
  const because = only === 'all' ? 'asked' : becauseOf(deliveryId !== null, status);
  if (because === null || type === null) return null;
  return { eventId, merchantId, endpointId, type: EVENT_TYPE.word(type), subType, because, deliveryId };
}

function formatPlace({ endpoint, createdAt, event }: PageStart): string {
  return `${endpoint}.${createdAt}.${event}`;
}

function parsePlace(place: string): PageStart {
  const parts = /^(\d{1,15})\.(\d{1,15})\.(-1|[0-9a-f]*)$/.exec(place);
  if (!parts) throw new Error(`the position of a replay is not valid in this store: ${place}`);
  const [, endpoint, createdAt, event = ''] = parts;
  return { endpoint: Number(endpoint), createdAt: Number(createdAt), event };
}
