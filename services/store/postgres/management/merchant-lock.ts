import type { Transaction } from '../client/statements.ts';

/**
 * Waits until no other transaction changes the endpoints of the merchant, and keeps them out until this one ends. So what
 * a change checks first (the quota, whether the URL is taken) holds when it commits. The recorder takes no such lock:
 * lock the row of an endpoint before changing it.
 */
export async function lockMerchant(tx: Transaction, merchantId: string): Promise<void> {
  await tx.rows('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`hookrail merchant ${merchantId}`]);
}
