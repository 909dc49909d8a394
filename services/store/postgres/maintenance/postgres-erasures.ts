import { CursorInvalid } from '../../change.ts';
import type { Erasures } from '../../maintenance.ts';
import { idBytes } from '../client/packed-id.ts';
import { MAINTENANCE_MS, type PostgresDatabase } from '../client/postgres-database.ts';
import type { Transaction } from '../client/statements.ts';
import type { Leaf } from '../leaves/leaf.ts';
import type { Leaves } from '../leaves/leaves.ts';
import { BODY_KIND } from '../log/bodies.ts';

interface Deps {
  readonly database: PostgresDatabase;
  readonly leaves: Leaves;
}

interface OrderRow {
  readonly entity_id: string | null;
  readonly merchant: number | null;
  readonly accepted_before: number;
}

const DEAD_ROWS = "removed rows in PostgreSQL's tables: until hookrail operator store vacuum";
const WAL = "PostgreSQL's WAL, its archive and base backups: as long as the server keeps them";

/** Walks the leaves from the oldest: each step removes what one of them has of the entity. */
export function postgresErasures({
  database,
  leaves,
}: Deps): Pick<Erasures, 'noteInBackups' | 'purge' | 'step'> {
  return {
    async step(erasureId, after = '0') {
      if (!/^\d{1,15}$/.test(after)) throw new CursorInvalid('the cursor does not belong to an erasure');
      const leaf = (await leaves.list('delivery')).find(({ from }) => from >= Number(after));
      if (!leaf) return { events: 0, deliveries: 0, next: null };
      // A leaf that has ended has an index of entities; the newest is read as a whole.
      const timeoutMs = MAINTENANCE_MS;
      const removed = await database.transaction((tx) => removeFrom(tx, erasureId, leaf), { timeoutMs });
      return { ...removed, next: `${leaf.to}` };
    },
    /** Base backups and the WAL archive are the server's: purge() names them. */
    noteInBackups: async () => [],
    /** Rewriting a table locks it, and takes the role that owns it: an operator does it. */
    async purge() {
      const erased = await database.read(({ first }) => first('SELECT 1 FROM erased_leaf LIMIT 1'));
      return erased ? [DEAD_ROWS, WAL] : [];
    },
  };
}

async function removeFrom(
  tx: Transaction,
  erasureId: number,
  { from, to, suffix }: Leaf,
): Promise<{ readonly events: number; readonly deliveries: number }> {
  const order = await tx.first<OrderRow>(
    'SELECT entity_id, merchant, accepted_before FROM erasure WHERE erasure_id = $1',
    [erasureId],
  );
  if (!order) throw new Error(`there is no erasure ${erasureId}`);
  const { merchant, accepted_before: before } = order;
  const values = [order.entity_id === null ? null : idBytes(order.entity_id), merchant, before];
  const events = await tx.rows<{ readonly seq: number }>(
    `UPDATE event_${suffix} SET removed_at = $3 WHERE ${OF_ENTITY} AND removed_at IS NULL RETURNING seq`,
    values,
  );
  const deliveries = await tx.rows<{ readonly seq: number }>(
    // One whose event's bodies were removed by age may have some of its own.
    `UPDATE delivery_${suffix} SET removed = 1 WHERE ${OF_ENTITY} RETURNING seq`,
    values,
  );
  const { data, event, own, response } = BODY_KIND;
  // An event and a delivery may have one number, where the log was copied from SQLite.
  const removeBodies = (owners: readonly { readonly seq: number }[], kinds: readonly number[]) =>
    tx.rows<{ readonly owner: number }>(
      `DELETE FROM body WHERE owner = ANY($1::bigint[]) AND kind = ANY($2::smallint[])
       AND created_at >= $3 AND created_at < $4 RETURNING owner`,
      [owners.map(({ seq }) => seq), kinds, from, to],
    );
  await removeBodies(events, [data, event]);
  const bodies = await removeBodies(deliveries, [own, response]);
  if (events.length + bodies.length > 0)
    await tx.rows('INSERT INTO erased_leaf VALUES ($1) ON CONFLICT (suffix) DO UPDATE SET suffix = $1', [
      suffix,
    ]);
  const bodiless = new Set(bodies.map(({ owner }) => owner));
  return { events: events.length, deliveries: deliveries.filter(({ seq }) => bodiless.has(seq)).length };
}

const OF_ENTITY =
  '($1::bytea IS NULL OR entity_id = $1) AND ($2::int IS NULL OR merchant = $2) AND created_at < $3';
