import type { BodiesOfRow } from '../../log/feed-contents.ts';
import { FEED_KIND } from '../../log/log-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import { idBytes, idOf } from '../client/packed-id.ts';
import { beginnings } from '../leaves/leaves.ts';
import { BODY_KIND } from '../log/bodies.ts';
import type { References, RowOfFeed, RowPlace } from './feed-references.ts';

type Bodies = ReadonlyMap<number, ReadonlyMap<number, Buffer>>;

/** Reads the bodies of what a page's rows refer to. */
export async function readBodies(
  statements: Statements,
  merchant: number,
  rows: readonly RowOfFeed[],
  { events, deliveries }: References,
): Promise<(row: RowOfFeed) => { readonly bodies?: BodiesOfRow }> {
  const { bodies: from } = await beginnings(statements);
  const requested = rows.flatMap(({ kind, delivery_id }) => {
    const delivery = kind === FEED_KIND.requested && delivery_id && deliveries.get(idOf(delivery_id));
    return delivery ? [delivery] : [];
  });
  const eventIds = requested.map(({ eventId }) => eventId);
  const ofRequested = await readPlaces(statements, merchant, eventIds);
  const bodies = await readOf(statements, BODY_KIND.event, [...events.values(), ...ofRequested.values()]);
  const own = await readOf(statements, BODY_KIND.own, requested);
  const isGone = (place: RowPlace | undefined) =>
    place !== undefined && (place.isRemoved || place.createdAt < from);
  return ({ kind, event_id, delivery_id }) => {
    if (kind === FEED_KIND.requested) {
      const delivery = delivery_id ? deliveries.get(idOf(delivery_id)) : undefined;
      const event = ofRequested.get(delivery?.eventId ?? '');
      return {
        bodies: {
          isRemoved: isGone(delivery) || event?.isRemoved === true,
          of: (apiVersion) =>
            own.get(delivery?.seq ?? -1)?.get(0) ?? bodies.get(event?.seq ?? -1)?.get(apiVersion),
        },
      };
    }
    if (event_id === null) return {};
    const event = events.get(idOf(event_id));
    return { bodies: { isRemoved: isGone(event), of: (code) => bodies.get(event?.seq ?? -1)?.get(code) } };
  };
}

/** Reads the places of events. */
async function readPlaces(
  { rows }: Statements,
  merchant: number,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, RowPlace>> {
  if (eventIds.length === 0) return new Map();
  const found = await rows<{
    readonly event_id: Buffer;
    readonly seq: number;
    readonly created_at: number;
    readonly removed_at: number | null;
  }>(
    `SELECT event_id, seq, created_at, removed_at FROM event WHERE event_id = ANY($1::bytea[]) AND merchant = $2`,
    [eventIds.map(idBytes), merchant],
  );
  return new Map(
    found.map(({ event_id, seq, created_at, removed_at }) => [
      idOf(event_id),
      { seq, createdAt: created_at, isRemoved: removed_at !== null },
    ]),
  );
}

/** Reads bodies of a kind by their owners, each in the leaf of its owner's time. */
async function readOf({ rows }: Statements, kind: number, owners: readonly RowPlace[]): Promise<Bodies> {
  const bodies = new Map<number, Map<number, Buffer>>();
  if (owners.length === 0) return bodies;
  const found = await rows<{ readonly owner: number; readonly n: number; readonly bytes: Buffer }>(
    `SELECT owner, n, bytes FROM body WHERE owner = ANY($1::bigint[]) AND kind = $2
     AND created_at = ANY($3::bigint[])`,
    [owners.map(({ seq }) => seq), kind, [...new Set(owners.map(({ createdAt }) => createdAt))]],
  );
  for (const { owner, n, bytes } of found) {
    const of = bodies.get(owner) ?? new Map<number, Buffer>();
    bodies.set(owner, of.set(n, bytes));
  }
  return bodies;
}
