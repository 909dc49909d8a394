import type { FeedExtent } from '../../log/feed-page.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';

/** Returns the merchant's number, 0 when it has none, and the extent of its feed. */
export async function extentOf(
  database: PostgresDatabase,
  merchantId: string,
): Promise<FeedExtent & { readonly merchant: number }> {
  const row = await database.read(({ first }) =>
    first<FeedExtent & { readonly merchant: number }>(
      `SELECT seq AS merchant, feed_to AS head, feed_removed_to AS "removedTo" FROM log_merchant
       WHERE merchant_id = $1`,
      [merchantId],
    ),
  );
  return row ?? { merchant: 0, head: 0, removedTo: 0 };
}
