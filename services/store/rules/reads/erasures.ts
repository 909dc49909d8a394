import type { ErasureOrder, Erasures } from '../../maintenance.ts';
import type { Statements } from '../../sql/statements.ts';

/** Returns the orders that are not finished, oldest first. */
export function unfinishedErasures({ rows }: Statements): Promise<readonly ErasureOrder[]> {
  return rows<ErasureOrder>(
    `SELECT erasure.erasure_id AS "erasureId", erasure.entity_id AS "entityId", m.merchant_id AS "merchantId"
     FROM erasure LEFT JOIN log_merchant m ON m.seq = erasure.merchant WHERE erasure.done_at IS NULL
     ORDER BY erasure.erasure_id`,
  );
}

/** Returns whether there is an order to erase what a merchant had of an entity then. */
export async function isErased(
  { first }: Statements,
  { entityId, merchantId, at }: Parameters<Erasures['isErased']>[0],
): Promise<boolean> {
  const order = await first(
    `SELECT erasure.erasure_id FROM erasure LEFT JOIN log_merchant m ON m.seq = erasure.merchant
     WHERE (erasure.entity_id = $1 OR erasure.entity_id IS NULL) AND erasure.accepted_before > $2
     AND (erasure.merchant IS NULL OR m.merchant_id = $3) LIMIT 1`,
    [entityId, Math.floor(at), merchantId],
  );
  return order !== undefined;
}
