import type { EndpointRow } from '../../rows/endpoint-rows.ts';
import type { Transaction } from '../../sql/transaction.ts';
import { addNotice } from './notice-writes.ts';

/** Adds the notice that an endpoint has another secret. `row`: as it was before. */
export async function tellRotated(
  tx: Transaction,
  { uuid, merchant_id: merchantId, url, version }: EndpointRow,
  hint: string,
  at: number,
): Promise<void> {
  await addNotice(tx, {
    ...{ merchantId, endpointId: uuid, cause: `secret.rotated/${uuid}/${version}` },
    ...{ type: 'secret.rotated', subType: 'ROTATED', at },
    data: { url, secretHint: hint },
  });
}
