/**
 * Every endpoint, deleted ones included, with its health; a WHERE clause may follow. Failures counted for an earlier
 * generation no longer count.
 */
export const SELECT_ENDPOINT_OR_TOMBSTONE = `SELECT e.*,
  CASE WHEN h.generation = e.health_generation THEN h.failure_count ELSE 0 END AS failure_count,
  CASE WHEN h.generation = e.health_generation THEN h.exhausted_count ELSE 0 END AS exhausted_count,
  h.last_success_at, h.last_failure_at, h.last_failure_code, h.last_failure_status
  FROM endpoint e LEFT JOIN endpoint_health h ON h.endpoint = e.seq`;

/** Endpoints that were not deleted; a WHERE clause follows after AND. */
export const SELECT_ENDPOINT = `${SELECT_ENDPOINT_OR_TOMBSTONE} WHERE e.deleted_at IS NULL`;
