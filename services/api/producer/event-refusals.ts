import type { Directory } from '../../domain/directory.ts';
import type { DomainEvent } from '../../domain/event.ts';
import { takesEvents } from '../../domain/merchant.ts';
import { type Refusal, refusalOf, refusalText } from '../../domain/quarantine.ts';
import type { Clock } from '../../process/clock.ts';
import type { Store } from '../../store/store.ts';
import type { Environment } from '../auth.ts';

export interface Judges {
  readonly directory: Pick<Directory, 'merchant'>;
  readonly environment: Environment;
  readonly store: { readonly merchants: Pick<Store['merchants'], 'get'> };
}

/**
 * Returns the events that the router must not route. A merchant is unknown when neither the directory nor the store has
 * it: a new one is in the store first, and one of an earlier store only in the directory. One that was closed takes no
 * events either.
 */
export async function refusalsOf(
  events: readonly DomainEvent[],
  { directory, environment, store }: Judges,
  now: number,
): Promise<ReadonlyMap<DomainEvent, Refusal>> {
  const refusals = new Map<DomainEvent, Refusal>();
  const acceptsSimulated = environment === 'sandbox';
  const judge = (event: DomainEvent, isMerchantKnown: boolean) => {
    const refusal = refusalOf(event, { acceptsSimulated, isMerchantKnown, now });
    if (refusal) refusals.set(event, refusal);
    return refusal;
  };
  // A store need not be able to look for a merchant whose id breaks a rule.
  const sound = events.filter((event) => !judge(event, true));
  const isMissing = (merchantId: string) => !takesEvents(directory.merchant(merchantId));
  const missing = new Set(sound.map((event) => event.merchantId).filter(isMissing));
  for (const merchantId of missing) {
    if (takesEvents(await store.merchants.get(merchantId))) missing.delete(merchantId);
  }
  for (const event of sound) if (missing.has(event.merchantId)) judge(event, false);
  return refusals;
}

/** Returns what says why the router would refuse an event now, for people, or null. */
export function stillRefusedBy(
  deps: Judges & { readonly clock: Pick<Clock, 'now'> },
): (event: DomainEvent) => Promise<string | null> {
  return async (event) => {
    const now = deps.clock.now();
    const refusal = (await refusalsOf([event], deps, now)).get(event);
    return refusal ? refusalText(refusal, event, now) : null;
  };
}
