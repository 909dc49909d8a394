/* Lists over all merchants. The log has indexes by merchant: each is read from its newest row on. */

/** Rows of each merchant that are read to learn how far back a step goes. */
const HEADS = 4;

const BOUNDS = 'created_at >= $2 AND created_at <= $3 AND (created_at, seq) < ($3, $4)';
const NEWEST = 'ORDER BY created_at DESC, seq DESC';

/**
 * Returns the tables of a statement that examines the next rows ($5) of all merchants; $1 is null. The newest few of each
 * merchant tell a time from which on there are as many as are wanted: nothing that is older is read, so a merchant that
 * has none there costs one look.
 */
export const everyExamined = (table: 'delivery' | 'event') => `heads AS MATERIALIZED (
    SELECT h.created_at, h.seq FROM log_merchant m CROSS JOIN LATERAL (
      SELECT created_at, seq FROM ${table} WHERE merchant = m.seq AND ${BOUNDS} ${NEWEST} LIMIT ${HEADS}
    ) h WHERE $1::int IS NULL ${NEWEST} LIMIT $5
  ), lowest AS MATERIALIZED (
    SELECT CASE WHEN count(*) = $5 THEN min(created_at) END AS at FROM heads
  ), examined AS MATERIALIZED (
    SELECT r.* FROM log_merchant m CROSS JOIN LATERAL (
      SELECT * FROM ${table} WHERE merchant = m.seq AND ${BOUNDS}
      AND created_at >= coalesce((SELECT at FROM lowest), $2) ${NEWEST} LIMIT $5
    ) r ${NEWEST} LIMIT $5
  )`;

/** Selects the next failing deliveries ($5) of all merchants; $1 is null. */
export const FAILING_OF_EVERY = `SELECT f.* FROM log_merchant m CROSS JOIN LATERAL (
    SELECT created_at, seq, delivery_id FROM failing WHERE merchant = m.seq AND status = $6 AND ${BOUNDS}
    ${NEWEST} LIMIT $5
  ) f WHERE $1::int IS NULL ${NEWEST} LIMIT $5`;
