import type { Erasures } from '../../maintenance.ts';
import type { OutboxWrites } from '../management/outbox-writes.ts';
import type { Names } from '../names.ts';
import type { ErasureRows } from './erasure-rows.ts';

type OrderOptions = Parameters<Erasures['order']>[1];

/** Orders to erase an entity, with their audit entries: the ids, never what was removed. */
export class ErasureWrites {
  readonly #rows: ErasureRows;
  readonly #names: Names;
  readonly #outbox: OutboxWrites;

  constructor(rows: ErasureRows, names: Names, outbox: OutboxWrites) {
    this.#rows = rows;
    this.#names = names;
    this.#outbox = outbox;
  }

  order({ entityId, merchantId }: Parameters<Erasures['order']>[0], { at, actor }: OrderOptions): number {
    const merchant = merchantId === null ? null : this.#names.merchant(merchantId);
    // Events accepted in this same millisecond are included.
    const erasureId = this.#rows.add(entityId, merchant, Math.floor(at) + 1);
    const details = { erasureId, entityId };
    this.#outbox.audit({ at, actor, merchantId, action: 'entity.erase', details });
    return erasureId;
  }

  finish(
    erasureId: number,
    removed: { readonly events: number; readonly deliveries: number },
    { at, actor }: OrderOptions,
  ): void {
    if (!this.#rows.finish(erasureId, at)) return;
    const details = { erasureId, ...removed };
    this.#outbox.audit({ at, actor, merchantId: null, action: 'entity.erased', details });
  }

  /** Drops orders older than every event that is kept. */
  forget(before: number): void {
    this.#rows.forget(before);
  }
}
