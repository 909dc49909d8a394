import type { Merchant } from '../domain/merchant.ts';
import { PLATFORM_MERCHANT_ID } from '../domain/notices/notice.ts';
import type { Clock } from '../process/clock.ts';
import type { Actor, AnswerToStore } from '../store/change.ts';
import type { Merchants, Store } from '../store/store.ts';
import { Refused } from './refused.ts';

/** Changes of merchants, by an operator or the platform: the commands and the routes call these. */

interface Deps {
  readonly store: { readonly merchants: Merchants };
  readonly clock: Pick<Clock, 'wall'>;
  readonly actor: Actor;
}

export interface NewMerchant {
  readonly merchantId: string;
  readonly name: string;
  readonly senderAccountDetails: boolean;
}

/** `answer` returns what is stored for a request that comes again. */
export async function createMerchant(
  { store, actor }: Omit<Deps, 'clock'>,
  merchant: NewMerchant,
  answer?: AnswerToStore,
): Promise<Merchant> {
  if (await store.merchants.get(merchant.merchantId))
    throw new Refused('merchant_exists', merchant.merchantId);
  return store.merchants.create(merchant, actor, answer);
}

/** Returns the merchant. Throws Refused when there is none. */
export async function findMerchant(
  { store }: { readonly store: { readonly merchants: Pick<Store['merchants'], 'get'> } },
  merchantId: string,
): Promise<Merchant> {
  const merchant = await store.merchants.get(merchantId);
  if (merchant === undefined) throw new Refused('merchant_not_found', merchantId);
  return merchant;
}

/** Returns the merchant. Throws Refused when there is none, or it was closed. */
export async function findOpenMerchant(
  deps: Parameters<typeof findMerchant>[0],
  merchantId: string,
): Promise<Merchant> {
  return refuseClosed(await findMerchant(deps, merchantId));
}

/** Changes the name, the entitlements or the state of a merchant that is not closed. */
export async function changeMerchant(
  { store, actor }: Omit<Deps, 'clock'>,
  merchantId: string,
  change: Parameters<Merchants['update']>[1],
  reason?: string,
): Promise<Merchant> {
  const merchant = await store.merchants.update(merchantId, change, { actor, reason });
  if (merchant === undefined) throw new Refused('merchant_not_found', merchantId);
  return refuseClosed(merchant);
}

/**
 * Closes a merchant for good; `erase`: the service erases the bodies of its events within minutes. One that is closed already
 * stays as it is. Throws Refused for the platform itself: its id could not be given again.
 */
export async function closeMerchant(
  { store, clock, actor }: Deps,
  merchantId: string,
  { reason, erase = false }: { readonly reason?: string | undefined; readonly erase?: boolean | undefined },
): Promise<Merchant> {
  const { merchantId: id } = await findMerchant({ store }, merchantId);
  if (id === PLATFORM_MERCHANT_ID) throw new Refused('platform_merchant_stays', id);
  const merchant = await store.merchants.close(id, { at: clock.wall(), actor, reason, erase });
  if (merchant === undefined) throw new Refused('merchant_not_found', merchantId);
  return merchant;
}

function refuseClosed(merchant: Merchant): Merchant {
  if (merchant.state === 'closed') throw new Refused('merchant_closed', merchant.merchantId);
  return merchant;
}
