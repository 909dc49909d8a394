import { unpackId } from '../../../sqlite/ids.ts';
import type { MissedBy, MissedRow } from '../../rules/reads/missed-page.ts';
import { listedToSql } from '../log/list-index.ts';

interface Row {
  readonly createdAt: number;
  readonly event: number;
  /** The number of the event's delivery; null when it was skipped. */
  readonly delivery: number | null;
  readonly eventId: Uint8Array | string;
  readonly type: number;
  readonly subType: string;
  readonly deliveryId: Uint8Array | string | null;
  readonly status: number | null;
}

export const MISSED_SQL = `SELECT m.created_at AS createdAt, m.event, m.delivery, ev.event_id AS eventId, ev.type,
  ev.sub_type AS subType, d.delivery_id AS deliveryId, d.status
  FROM missed m CROSS JOIN event ev ON ev.seq = m.event LEFT JOIN delivery d ON d.seq = m.delivery
  WHERE m.endpoint = $1 AND (m.created_at, m.event) > ($2, $3) AND m.created_at < $4
  ORDER BY m.created_at, m.event LIMIT $5`;

/** Reads missed events by their numbers. */
const missedBy: MissedBy = async ({ rows }, { endpoint }, { createdAt, event }, { until, limit }) => {
  const after = event === '' ? -1 : Number(event);
  const found = await rows<Row>(MISSED_SQL, [endpoint, createdAt, after, until, limit]);
  return found.map((row) => ({
    createdAt: row.createdAt,
    event: `${row.event}`,
    eventId: unpackId(row.eventId),
    type: row.type,
    subType: row.subType,
    // A delivery that is no longer kept has no id, and no status.
    deliveryId: row.delivery === null ? null : row.deliveryId === null ? '' : unpackId(row.deliveryId),
    status: row.status,
  }));
};

const ROUTED =
  'ev.created_at AS createdAt, ev.seq AS event, ev.event_id AS eventId, ev.type, ev.sub_type AS subType';

/** The SQL of a merchant's events, oldest first, exposed so that the query plans can be checked. */
export const ROUTED_SQL = `SELECT ${ROUTED} FROM event_by_merchant l CROSS JOIN event ev ON ev.seq = l.seq
  WHERE l.merchant = $1 AND (l.created_at, l.seq) > ($2, $3) AND l.created_at < $4 AND ev.routed_at IS NOT NULL
  ORDER BY l.created_at, l.seq LIMIT $5`;
/** The SQL of those that the index does not have yet. */
export const UNLISTED_ROUTED_SQL = `SELECT ${ROUTED} FROM event ev
  WHERE ev.seq > (${listedToSql('event')}) AND ev.merchant = $1 AND (ev.created_at, ev.seq) > ($2, $3)
  AND ev.created_at < $4 AND ev.routed_at IS NOT NULL ORDER BY ev.created_at, ev.seq LIMIT $5`;

/** Reads the events of an endpoint's merchant. */
const routedTo: MissedBy = async ({ rows }, { merchant }, { createdAt, event }, { until, limit }) => {
  const values = [merchant, createdAt, event === '' ? -1 : Number(event), until, limit];
  const listed = await rows<Row>(ROUTED_SQL, values);
  const unlisted = await rows<Row>(UNLISTED_ROUTED_SQL, values);
  return [...listed, ...unlisted]
    .sort((one, other) => one.createdAt - other.createdAt || one.event - other.event)
    .slice(0, limit)
    .map(
      ({ createdAt, event, eventId, type, subType }): MissedRow => ({
        ...{ createdAt, event: `${event}`, eventId: unpackId(eventId), type, subType },
        ...{ deliveryId: null, status: null },
      }),
    );
};

export const replayReads = { missedBy, routedTo };
