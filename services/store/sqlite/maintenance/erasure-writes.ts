import type { Erasures } from '../../maintenance.ts';
import { addToAudit } from '../../rules/outbox-writes.ts';
import type { Transaction } from '../../sql/transaction.ts';
import type { Names } from '../names.ts';
import type { ErasureRows } from './erasure-rows.ts';

type OrderOptions = Parameters<Erasures['order']>[1];

/** Orders to erase an entity, with their audit entries: the ids, never what was removed. */
export class ErasureWrites {
  readonly #rows: ErasureRows;
  readonly #names: Names;

  constructor(rows: ErasureRows, names: Names) {
    this.#rows = rows;
    this.#names = names;
  }

  async order(
    tx: Transaction,
    { entityId, merchantId }: Parameters<Erasures['order']>[0],
    { at, actor }: OrderOptions,
  ): Promise<number> {
    const merchant = merchantId === null ? null : this.#names.merchant(merchantId);
    // Events accepted in this same millisecond are included.
    const erasureId = this.#rows.add(entityId, merchant, Math.floor(at) + 1);
    const details = { erasureId, entityId };
    await addToAudit(tx, { at, actor, merchantId, action: 'entity.erase', details });
    return erasureId;
  }

  async finish(
    tx: Transaction,
    erasureId: number,
    removed: { readonly events: number; readonly deliveries: number },
    { at, actor }: OrderOptions,
  ): Promise<void> {
    if (!this.#rows.finish(erasureId, at)) return;
    const details = { erasureId, ...removed };
    await addToAudit(tx, { at, actor, merchantId: null, action: 'entity.erased', details });
  }

  /** Drops orders older than every event that is kept. */
  forget(before: number): void {
    this.#rows.forget(before);
  }
}
