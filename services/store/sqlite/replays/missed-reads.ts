import { unpackId } from '../../../sqlite/ids.ts';
import type { MissedBy } from '../../rules/reads/missed-page.ts';

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
export const missedBy: MissedBy = async ({ rows }, { endpoint }, { createdAt, event }, { until, limit }) => {
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
