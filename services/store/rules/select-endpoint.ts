import type { Dialect } from '../sql/statements.ts';

/** Returns a SELECT of endpoints that were not deleted, as `e`; more may follow. */
export function selectEndpoint({ endpoints }: Dialect, condition: string): string {
  return `${endpoints} WHERE e.deleted_at IS NULL AND ${condition}`;
}
