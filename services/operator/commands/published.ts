import type { Clock } from '../../process/clock.ts';
import { pollUntil } from '../../process/poll-until.ts';
import type { Store } from '../../store/store.ts';

/** Polls until every change of the store is published; resolves with false when that takes longer than `atMostMs`. */
export function published(
  { store, clock }: { readonly store: Pick<Store, 'outbox'>; readonly clock: Clock },
  limits: { readonly everyMs: number; readonly atMostMs: number },
): Promise<boolean> {
  return pollUntil(clock, async () => (await store.outbox.pending(1)).length === 0, limits);
}
