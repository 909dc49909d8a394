import type { Clock } from '../process/clock.ts';
import type { Actor } from '../store/change.ts';
import type { ErasureOrder } from '../store/maintenance.ts';
import type { Store } from '../store/store.ts';
import { findMerchant } from './merchants.ts';

interface Deps {
  readonly store: Pick<Store, 'merchants' | 'erasures'>;
  readonly clock: Pick<Clock, 'wall'>;
  readonly actor: Actor;
}

/**
 * Orders that the bodies of a person's or a company's events are erased, those of one merchant or of all (null). The order is
 * durable: if its caller does not carry it out, the service does. Throws Refused.
 */
export async function orderErasure(
  { store, clock, actor }: Deps,
  { entity, merchantId }: { readonly entity: string; readonly merchantId: string | null },
): Promise<ErasureOrder & { readonly entityId: string }> {
  if (merchantId !== null) await findMerchant({ store }, merchantId);
  const of = { entityId: entity.toLowerCase(), merchantId };
  const erasureId = await store.erasures.order(of, { at: clock.wall(), actor });
  return { erasureId, ...of };
}
