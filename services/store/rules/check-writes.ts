import type { Endpoints } from '../endpoints.ts';
import type { Transaction } from '../sql/transaction.ts';
import { tellCertificate } from './notices/certificate-notices.ts';

/** Keeps what a check has found. It changes nothing that is sent, so it has no outbox row. */
export async function keepEndpointCheck(
  tx: Transaction,
  ...[merchantId, uuid, check]: Parameters<Endpoints['keepCheck']>
): Promise<boolean> {
  const changed = await tx.change(
    `UPDATE endpoint SET newest_check = $4 WHERE uuid = $1 AND merchant_id = $2 AND url = $3 AND deleted_at IS NULL`,
    [uuid, merchantId, check.url, JSON.stringify(check)],
  );
  if (changed > 0) await tellCertificate(tx, merchantId, uuid, check);
  return changed > 0;
}
