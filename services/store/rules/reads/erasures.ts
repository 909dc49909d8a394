import type { ErasureOrder } from '../../maintenance.ts';
import type { Statements } from '../../sql/statements.ts';

/** Returns the orders that are not finished, oldest first. */
export function unfinishedErasures({ rows }: Statements): Promise<readonly ErasureOrder[]> {
  return rows<ErasureOrder>(
    `SELECT erasure.erasure_id AS "erasureId", erasure.entity_id AS "entityId", m.merchant_id AS "merchantId"
     FROM erasure LEFT JOIN log_merchant m ON m.seq = erasure.merchant WHERE erasure.done_at IS NULL
     ORDER BY erasure.erasure_id`,
  );
}
