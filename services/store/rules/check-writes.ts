import { certificateNotice } from '../../domain/notices/certificate-end.ts';
import type { Endpoints } from '../endpoints.ts';
import type { Transaction } from '../sql/transaction.ts';
import { addNotice } from './notices/notice-writes.ts';

/**
 * Keeps what a check has found, with the notice of a certificate near its end. It changes nothing that is sent, so it has
 * no outbox row.
 */
export async function keepEndpointCheck(
  tx: Transaction,
  ...[merchantId, endpointId, check]: Parameters<Endpoints['keepCheck']>
): Promise<boolean> {
  const { at, url, steps } = check;
  const changed = await tx.change(
    `UPDATE endpoint SET newest_check = $4 WHERE uuid = $1 AND merchant_id = $2 AND url = $3 AND deleted_at IS NULL`,
    [endpointId, merchantId, url, JSON.stringify(check)],
  );
  if (changed === 0) return false;
  const until = Date.parse(String(steps.find(({ step }) => step === 'tls')?.facts.valid_until));
  const notice = certificateNotice({ merchantId, endpointId, url, until, at });
  if (notice) await addNotice(tx, notice);
  return true;
}
