import { EVENT_TYPE } from '../../log/codes.ts';
import { becauseOf, isWanted } from '../../log/missed-page.ts';
import type { MissedEvent, ReplayScope, Replays } from '../../replays.ts';
import type { Statements } from '../../sql/statements.ts';
import { idOf } from '../client/packed-id.ts';

const PAGE_MAX = 1000;
/** Endpoints examined in one page, most of which have missed nothing. */
const ENDPOINTS_MAX = 500;

/** Where a page begins: an endpoint's row, and the missed event after which it starts. */
interface PageStart {
  readonly endpoint: number;
  readonly createdAt: number;
  /** The event's id as it is stored, in hexadecimal. */
  readonly event: string;
}

/** An endpoint, and its number in the log: null when the log does not know it. */
interface ScopeEndpoint {
  readonly seq: number;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly logged: number | null;
  /** The merchant's number in the log. */
  readonly merchant: number | null;
}

interface MissedKey {
  readonly created_at: number;
  readonly event_id: Buffer;
  readonly delivery_id: Buffer | null;
  readonly delivery_at: number | null;
}

interface MissedRow extends MissedKey {
  readonly type: number | null;
  readonly sub_type: string | null;
  readonly status: number | null;
}

/** Returns a page of what the endpoints of a replay's scope have missed. */
export async function missed(
  statements: Statements,
  scope: ReplayScope,
  place: string | null,
  limit: number,
): ReturnType<Replays['missed']> {
  const beginning = { endpoint: 0, createdAt: scope.since, event: '' };
  const from = place === null ? beginning : parsePlace(place);
  const endpoints = await endpointsFrom(statements, scope, from.endpoint);
  const events: MissedEvent[] = [];
  let next: PageStart = from;
  let left = Math.min(limit, PAGE_MAX);
  for (const endpoint of endpoints) {
    const start = endpoint.seq === from.endpoint ? from : { ...beginning, endpoint: endpoint.seq };
    const rows = await missedBy(statements, endpoint, start, scope.until, left);
    for (const row of rows) {
      const event = toMissed(row, endpoint);
      if (event && isWanted(event, scope)) events.push(event);
    }
    next = { ...start, endpoint: endpoint.seq, ...placeAfter(rows) };
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
  const select = (condition: string) => `SELECT e.seq, e.uuid AS "endpointId", e.merchant_id AS "merchantId",
    n.seq AS logged, n.merchant FROM endpoint e LEFT JOIN log_endpoint n ON n.endpoint_id = e.uuid
    WHERE e.deleted_at IS NULL AND ${condition} ORDER BY e.seq LIMIT ${ENDPOINTS_MAX}`;
  if (endpointId !== null) return rows(select('e.uuid = $1'), [endpointId]);
  if (merchantId === null) return rows(select("e.status = 'active' AND e.seq >= $1"), [from]);
  return rows(select("e.status = 'active' AND e.seq >= $1 AND e.merchant_id = $2"), [from, merchantId]);
}

/**
 * Reads a page of missed events, then their events and deliveries by id, each in the leaf of its time: joined in one
 * statement, every leaf would be read.
 */
async function missedBy(
  statements: Statements,
  { logged, merchant }: ScopeEndpoint,
  { createdAt, event }: PageStart,
  until: number,
  limit: number,
): Promise<readonly MissedRow[]> {
  if (logged === null) return [];
  const start = Buffer.from(event, 'hex');
  const keys = await statements.rows<MissedKey>(MISSED, [logged, createdAt, start, until, limit]);
  if (keys.length === 0) return [];
  const events = await statements.rows<EventPart>(EVENTS, [
    keys.map(({ event_id }) => event_id),
    keys.map(({ created_at }) => created_at),
    merchant,
  ]);
  const own = keys.filter(({ delivery_id }) => delivery_id !== null);
  const deliveries = await statements.rows<DeliveryPart>(DELIVERIES, [
    own.map(({ delivery_id }) => delivery_id),
    own.map(({ delivery_at }) => delivery_at),
  ]);
  const eventOf = new Map(events.map((row) => [row.event_id.toString('hex'), row]));
  const statusOf = new Map(deliveries.map((row) => [row.delivery_id.toString('hex'), row.status]));
  return keys.map((key) => {
    const found = eventOf.get(key.event_id.toString('hex'));
    const status = key.delivery_id && statusOf.get(key.delivery_id.toString('hex'));
    return { ...key, type: found?.type ?? null, sub_type: found?.sub_type ?? null, status: status ?? null };
  });
}

interface EventPart {
  readonly event_id: Buffer;
  readonly type: number;
  readonly sub_type: string;
}

interface DeliveryPart {
  readonly delivery_id: Buffer;
  readonly status: number;
}

const MISSED = `SELECT created_at, event_id, delivery_id, delivery_at FROM missed
  WHERE endpoint = $1 AND created_at >= $2 AND created_at < $4 AND (created_at, event_id) > ($2, $3)
  ORDER BY created_at, event_id LIMIT $5`;
const EVENTS = `SELECT e.* FROM unnest($1::bytea[], $2::bigint[]) AS k (id, at) CROSS JOIN LATERAL (
    SELECT event_id, type, sub_type FROM event WHERE event_id = k.id AND created_at = k.at AND merchant = $3 LIMIT 1
  ) e`;
const DELIVERIES = `SELECT d.* FROM unnest($1::bytea[], $2::bigint[]) AS k (id, at) CROSS JOIN LATERAL (
    SELECT delivery_id, status FROM delivery WHERE delivery_id = k.id AND created_at = k.at LIMIT 1
  ) d`;

function placeAfter(rows: readonly MissedRow[]): Partial<PageStart> {
  const last = rows.at(-1);
  return last ? { createdAt: last.created_at, event: last.event_id.toString('hex') } : {};
}

/** Returns null when the delivery is in progress, or the event is no longer kept. */
function toMissed(row: MissedRow, { endpointId, merchantId }: ScopeEndpoint): MissedEvent | null {
  const because = becauseOf(row.delivery_id !== null, row.status);
  if (because === null || row.type === null) return null;
  return {
    eventId: idOf(row.event_id),
    merchantId,
    endpointId,
    type: EVENT_TYPE.word(row.type),
    subType: row.sub_type ?? '',
    because,
    deliveryId: row.delivery_id === null ? null : idOf(row.delivery_id),
  };
}

function formatPlace({ endpoint, createdAt, event }: PageStart): string {
  return `${endpoint}.${createdAt}.${event}`;
}

function parsePlace(place: string): PageStart {
  const parts = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]*)$/.exec(place);
  if (!parts) throw new Error(`the position of a replay is not valid in this store: ${place}`);
  const [, endpoint, createdAt, event = ''] = parts;
  return { endpoint: Number(endpoint), createdAt: Number(createdAt), event };
}
