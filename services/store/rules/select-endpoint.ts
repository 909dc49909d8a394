import type { Dialect } from '../sql/statements.ts';

/** Returns a SELECT of every endpoint as `e`, deleted ones included, with its health; a WHERE clause may follow. */
export function selectEveryEndpoint({ counted }: Pick<Dialect, 'counted'>): string {
  return `SELECT e.*, ${counted('failure_count')} AS failure_count, ${counted('exhausted_count')} AS exhausted_count,
    h.last_success_at, h.last_failure_at, h.last_failure_code, h.last_failure_status
    FROM endpoint e LEFT JOIN endpoint_health h ON h.endpoint = e.seq`;
}

/** Returns a SELECT of endpoints that were not deleted, as `e`; more may follow. */
export function selectEndpoint(dialect: Pick<Dialect, 'counted'>, condition: string): string {
  return `${selectEveryEndpoint(dialect)} WHERE e.deleted_at IS NULL AND ${condition}`;
}
