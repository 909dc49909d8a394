import type { Erasures } from '../maintenance.ts';
import type { Transaction } from '../sql/transaction.ts';
import { addToAudit } from './outbox-writes.ts';

type ByOperator = Parameters<Erasures['order']>[1];

/* Orders to erase an entity, or all of a merchant, with their audit entries: the ids, never what was removed. */

export async function orderErasure(
  tx: Transaction,
  { entityId, merchantId }: Parameters<Erasures['order']>[0],
  { at, actor }: ByOperator,
): Promise<number> {
  // Events accepted in this same millisecond are included.
  const erasureId = await tx.addErasure({ entityId, merchantId, acceptedBefore: Math.floor(at) + 1 });
  const details = { erasureId, entityId };
  await addToAudit(tx, { at, actor, merchantId, action: 'entity.erase', details });
  return erasureId;
}

/** The time until every process knows that a merchant was closed: what it is sent until then is erased as well. */
const CLOSING_MS = 60_000;

/** Orders to erase all of a merchant that is closed, once. */
export async function orderMerchantErasure(
  tx: Transaction,
  merchantId: string,
  { at, actor }: ByOperator,
): Promise<void> {
  const isOrdered = await tx.first(
    `SELECT erasure.erasure_id FROM erasure JOIN log_merchant m ON m.seq = erasure.merchant
     WHERE erasure.entity_id IS NULL AND m.merchant_id = $1 LIMIT 1`,
    [merchantId],
  );
  if (isOrdered) return;
  const acceptedBefore = Math.floor(at) + CLOSING_MS;
  const erasureId = await tx.addErasure({ entityId: null, merchantId, acceptedBefore });
  await addToAudit(tx, { at, actor, merchantId, action: 'merchant.erase', details: { erasureId } });
}

export async function finishErasure(
  tx: Transaction,
  erasureId: number,
  removed: { readonly events: number; readonly deliveries: number },
  { at, actor }: ByOperator,
): Promise<void> {
  const finished = await tx.change(
    'UPDATE erasure SET done_at = $2 WHERE erasure_id = $1 AND done_at IS NULL',
    [erasureId, Math.floor(at)],
  );
  if (finished === 0) return;
  const details = { erasureId, ...removed };
  await addToAudit(tx, { at, actor, merchantId: null, action: 'entity.erased', details });
}
