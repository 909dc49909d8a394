import type { MissedBy } from '../../rules/reads/missed-page.ts';
import { idOf } from '../client/packed-id.ts';

interface MissedKey {
  readonly created_at: number;
  readonly event_id: Buffer;
  readonly delivery_id: Buffer | null;
  readonly delivery_at: number | null;
}

interface EventPart {
  readonly event_id: Buffer;
  readonly type: number;
  readonly sub_type: string;
}

interface DeliveryPart extends Pick<EventPart, 'type' | 'sub_type'> {
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
    SELECT delivery_id, status, type, sub_type FROM delivery WHERE delivery_id = k.id AND created_at = k.at LIMIT 1
  ) d`;

/**
 * Reads a page of missed events, then their events and deliveries by id, each in the leaf of its time: joined in one
 * statement, every leaf would be read.
 */
const missedBy: MissedBy = async (
  statements,
  { endpoint, merchant },
  { createdAt, event },
  { until, limit },
) => {
  const start = Buffer.from(event, 'hex');
  const keys = await statements.rows<MissedKey>(MISSED, [endpoint, createdAt, start, until, limit]);
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
  const deliveryOf = new Map(deliveries.map((row) => [row.delivery_id.toString('hex'), row]));
  return keys.map(({ created_at, event_id, delivery_id }) => {
    const name = event_id.toString('hex');
    const own = delivery_id ? deliveryOf.get(delivery_id.toString('hex')) : undefined;
    // An operational notice has no row of an event: its delivery says what it is.
    const found = eventOf.get(name) ?? own;
    return {
      createdAt: created_at,
      event: name,
      eventId: idOf(event_id),
      type: found?.type ?? null,
      subType: found?.sub_type ?? '',
      deliveryId: delivery_id && idOf(delivery_id),
      status: own?.status ?? null,
    };
  });
};

interface RoutedRow extends EventPart {
  readonly created_at: number;
  readonly seq: number;
}

const ROUTED = `SELECT created_at, seq, event_id, type, sub_type FROM event
  WHERE merchant = $1 AND created_at >= $2 AND created_at < $4 AND (created_at, seq) > ($2, $3)
  ORDER BY created_at, seq LIMIT $5`;

/** Reads the events of an endpoint's merchant. */
const routedTo: MissedBy = async ({ rows }, { merchant }, { createdAt, event }, { until, limit }) => {
  const after = event === '' ? -1 : Number(event);
  const found = await rows<RoutedRow>(ROUTED, [merchant, createdAt, after, until, limit]);
  return found.map(({ created_at, seq, event_id, type, sub_type }) => ({
    ...{ createdAt: created_at, event: `${seq}`, eventId: idOf(event_id), type, subType: sub_type },
    ...{ deliveryId: null, status: null },
  }));
};

export const replayReads = { missedBy, routedTo };
