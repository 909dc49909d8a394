import { type Actor, CursorInvalid } from '../../change.ts';
import type { ErasureOrder, ErasureStep, Erasures } from '../../maintenance.ts';
import { addToAudit } from '../../rules/outbox-writes.ts';
import { idBytes } from '../client/packed-id.ts';
import { MAINTENANCE_MS, type PostgresDatabase } from '../client/postgres-database.ts';
import type { Transaction } from '../client/statements.ts';
import type { Leaf } from '../leaves/leaf.ts';
import type { Leaves } from '../leaves/leaves.ts';
import { BODY_KIND } from '../log/bodies.ts';
import { ERASURE_LOCK } from '../log/journal-writes.ts';
import type { LogNames } from '../log/log-names.ts';

interface Deps {
  readonly database: PostgresDatabase;
  readonly leaves: Leaves;
  readonly names: LogNames;
}

interface OrderRow {
  readonly entity_id: string;
  readonly merchant: number | null;
  readonly accepted_before: number;
}

interface ByOperator {
  readonly at: number;
  readonly actor: Actor;
}

const DEAD_ROWS = "removed rows in PostgreSQL's tables: until hookrail operator store vacuum";
const WAL = "PostgreSQL's WAL, its archive and base backups: as long as the server keeps them";

/** Walks the leaves from the oldest: each step removes what one of them has of the entity. */
export class PostgresErasures implements Erasures {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async order(
    { entityId, merchantId }: Omit<ErasureOrder, 'erasureId'>,
    { at, actor }: ByOperator,
  ): Promise<number> {
    const { database, names } = this.#deps;
    if (merchantId !== null) await names.add([merchantId], new Map());
    const merchant = merchantId === null ? null : names.numbers.merchant(merchantId);
    return database.transaction(async (tx) => {
      // A batch that runs has not seen the order: it ends first, and the walk sees what it recorded.
      await tx.rows(`SELECT pg_advisory_xact_lock(${ERASURE_LOCK})`);
      const row = await tx.first<{ readonly erasure_id: number }>(
        `INSERT INTO erasure (entity_id, merchant, accepted_before) VALUES ($1, $2, $3) RETURNING erasure_id`,
        // Events accepted in this same millisecond are included.
        [entityId, merchant, Math.floor(at) + 1],
      );
      if (!row) throw new Error('an erasure got no number');
      const details = { erasureId: row.erasure_id, entityId };
      await addToAudit(tx, { at, actor, merchantId, action: 'entity.erase', details });
      return row.erasure_id;
    });
  }

  async step(erasureId: number, after = '0'): Promise<ErasureStep> {
    if (!/^\d{1,15}$/.test(after)) throw new CursorInvalid('the cursor does not belong to an erasure');
    const { database, leaves } = this.#deps;
    const leaf = (await leaves.list('delivery')).find(({ from }) => from >= Number(after));
    if (!leaf) return { events: 0, deliveries: 0, next: null };
    // A leaf that has ended has an index of entities; the newest is read as a whole.
    const timeoutMs = MAINTENANCE_MS;
    const removed = await database.transaction((tx) => removeFrom(tx, erasureId, leaf), { timeoutMs });
    return { ...removed, next: `${leaf.to}` };
  }

  async finish(
    erasureId: number,
    removed: { readonly events: number; readonly deliveries: number },
    { at, actor }: ByOperator,
  ): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      const finished = await tx.change(
        'UPDATE erasure SET done_at = $2 WHERE erasure_id = $1 AND done_at IS NULL',
        [erasureId, Math.floor(at)],
      );
      if (finished === 0) return;
      const details = { erasureId, ...removed };
      await addToAudit(tx, { at, actor, merchantId: null, action: 'entity.erased', details });
    });
  }

  /** Base backups and the WAL archive are the server's: purge() names them. */
  async noteInBackups(): Promise<readonly string[]> {
    return [];
  }

  /** Rewriting a table locks it, and takes the role that owns it: an operator does it. */
  async purge(): Promise<readonly string[]> {
    const erased = await this.#deps.database.read(({ first }) => first('SELECT 1 FROM erased_leaf LIMIT 1'));
    return erased ? [DEAD_ROWS, WAL] : [];
  }

  unfinished(): Promise<readonly ErasureOrder[]> {
    return this.#deps.database.read(({ rows }) =>
      rows<ErasureOrder>(
        `SELECT erasure.erasure_id AS "erasureId", erasure.entity_id AS "entityId", m.merchant_id AS "merchantId"
         FROM erasure LEFT JOIN log_merchant m ON m.seq = erasure.merchant WHERE erasure.done_at IS NULL
         ORDER BY erasure.erasure_id`,
      ),
    );
  }
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
  const values = [idBytes(order.entity_id), merchant, before];
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

const OF_ENTITY = 'entity_id = $1 AND ($2::int IS NULL OR merchant = $2) AND created_at < $3';
