import type { Erasures } from '../maintenance.ts';
import type { Transaction } from '../sql/transaction.ts';
import { addToAudit } from './outbox-writes.ts';

type ByOperator = Parameters<Erasures['order']>[1];

/* Orders to erase an entity, with their audit entries: the ids, never what was removed. */

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
