import { MerchantClosed } from '../change.ts';
import type { Transaction } from '../sql/transaction.ts';

/**
 * Takes the merchant's lock (`Transaction.lockMerchant`) to add something to it. Throws MerchantClosed when it was closed:
 * closing removes what it has, in a transaction that takes the same lock, and nothing may be added afterwards.
 */
export async function lockOpenMerchant(tx: Transaction, merchantId: string): Promise<void> {
  await tx.lockMerchant(merchantId);
  const row = await tx.first<{ readonly state: string }>(
    'SELECT state FROM merchant WHERE merchant_id = $1',
    [merchantId],
  );
  if (row?.state === 'closed')
    throw new MerchantClosed(`merchant ${merchantId} is closed, for good: see merchants get`);
}
