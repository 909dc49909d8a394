import type { Database } from 'better-sqlite3';
import { unpackId } from '../../../sqlite/ids.ts';
import { EVENT_TYPE } from '../../log/codes.ts';
import { becauseOf, isWanted } from '../../log/missed-page.ts';
import type { MissedEvent, ReplayScope, Replays } from '../../replays.ts';
import { PAGE_MAX } from '../../rules/page.ts';

/** Endpoints examined in one page, most of which have missed nothing. */
const ENDPOINTS_MAX = 500;

/** Where a page begins: an endpoint's row, and the missed event after which it starts. */
interface PageStart {
  readonly endpoint: number;
  readonly createdAt: number;
  readonly event: number;
}

/** An endpoint and its number in the log; null when the log does not know it. */
interface ScopeEndpoint {
  readonly seq: number;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly logged: number | null;
}

interface MissedRow {
  readonly createdAt: number;
  readonly event: number;
  readonly delivery: number | null;
  readonly eventId: Uint8Array | string;
  readonly type: number;
  readonly subType: string;
  readonly deliveryId: Uint8Array | string | null;
  readonly status: number | null;
}

/** Reads the events that replays send. */
export class MissedReads {
  readonly #endpoint;
  readonly #endpoints;
  readonly #endpointsOf;
  readonly #missed;

  constructor(db: Database) {
    this.#endpoint = db.prepare(MissedReads.endpointsSql('e.uuid = ?'));
    this.#endpoints = db.prepare(MissedReads.endpointsSql("e.status = 'active' AND e.seq >= ?"));
    this.#endpointsOf = db.prepare(
      MissedReads.endpointsSql("e.status = 'active' AND e.seq >= ? AND e.merchant_id = ?"),
    );
    this.#missed = db.prepare(MissedReads.missedSql);
  }

  /**
   * Returns the SQL of endpoints that are not deleted, in order of creation; exposed, like the next, for its query
   * plan.
   */
  static endpointsSql(condition: string): string {
    return `SELECT e.seq, e.uuid AS endpointId, e.merchant_id AS merchantId, n.seq AS logged
      FROM endpoint e LEFT JOIN log_endpoint n ON n.endpoint_id = e.uuid
      WHERE e.deleted_at IS NULL AND ${condition} ORDER BY e.seq LIMIT ${ENDPOINTS_MAX}`;
  }

  static readonly missedSql =
    `SELECT m.created_at AS createdAt, m.event, m.delivery, ev.event_id AS eventId, ev.type,
    ev.sub_type AS subType, d.delivery_id AS deliveryId, d.status
    FROM missed m CROSS JOIN event ev ON ev.seq = m.event LEFT JOIN delivery d ON d.seq = m.delivery
    WHERE m.endpoint = :endpoint AND (m.created_at, m.event) > (:createdAt, :event) AND m.created_at < :until
    ORDER BY m.created_at, m.event LIMIT :limit`;

  missed(scope: ReplayScope, place: string | null, limit: number): Awaited<ReturnType<Replays['missed']>> {
    const beginning = { endpoint: 0, createdAt: scope.since, event: -1 };
    const from = place === null ? beginning : parsePlace(place);
    const most = Math.min(limit, PAGE_MAX);
    const endpoints = this.#endpointsFrom(scope, from.endpoint);
    const events: MissedEvent[] = [];
    let next: PageStart = from;
    let left = most;
    for (const endpoint of endpoints) {
      const start = endpoint.seq === from.endpoint ? from : { ...beginning, endpoint: endpoint.seq };
      const rows = this.#missedBy(endpoint, start, scope.until, left);
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

  #endpointsFrom({ endpointId, merchantId }: ReplayScope, from: number): ScopeEndpoint[] {
    if (endpointId !== null) return this.#endpoint.all(endpointId) as ScopeEndpoint[];
    if (merchantId === null) return this.#endpoints.all(from) as ScopeEndpoint[];
    return this.#endpointsOf.all(from, merchantId) as ScopeEndpoint[];
  }

  #missedBy({ logged }: ScopeEndpoint, start: PageStart, until: number, limit: number): MissedRow[] {
    if (logged === null) return [];
    const { createdAt, event } = start;
    return this.#missed.all({ endpoint: logged, createdAt, event, until, limit }) as MissedRow[];
  }
}

function placeAfter(rows: readonly MissedRow[]): Partial<PageStart> {
  const last = rows.at(-1);
  return last ? { createdAt: last.createdAt, event: last.event } : {};
}

/** Returns null when the delivery is in progress, or no longer kept. */
function toMissed(row: MissedRow, { endpointId, merchantId }: ScopeEndpoint): MissedEvent | null {
  const because = becauseOf(row.delivery !== null, row.status);
  if (because === null) return null;
  return {
    eventId: unpackId(row.eventId),
    merchantId,
    endpointId,
    type: EVENT_TYPE.word(row.type),
    subType: row.subType,
    because,
    deliveryId: row.deliveryId === null ? null : unpackId(row.deliveryId),
  };
}

function formatPlace({ endpoint, createdAt, event }: PageStart): string {
  return `${endpoint}.${createdAt}.${event}`;
}

function parsePlace(place: string): PageStart {
  const [endpoint = Number.NaN, createdAt = Number.NaN, event = Number.NaN] = place.split('.').map(Number);
  if (![endpoint, createdAt, event].every(Number.isInteger)) {
    throw new Error(`the position of a replay is not valid in this store: ${place}`);
  }
  return { endpoint, createdAt, event };
}
