/** Every endpoint, deleted ones included, with its health; a WHERE clause may follow. */
export const SELECT_ENDPOINT_OR_TOMBSTONE = `SELECT e.*, coalesce(h.failure_count, 0) AS failure_count,
  coalesce(h.exhausted_count, 0) AS exhausted_count, h.last_success_at, h.last_failure_at,
  h.last_failure_code, h.last_failure_status
  FROM endpoint e LEFT JOIN endpoint_health h ON h.endpoint = e.seq`;

/** Endpoints that were not deleted; a WHERE clause follows after AND. */
export const SELECT_ENDPOINT = `${SELECT_ENDPOINT_OR_TOMBSTONE} WHERE e.deleted_at IS NULL`;
