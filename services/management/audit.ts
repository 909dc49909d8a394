import type { Clock } from '../process/clock.ts';
import type { Actor } from '../store/change.ts';
import type { Store } from '../store/store.ts';

/**
 * Adds an entry to the audit: of what the store does not record by itself. Resolves when it is durable; await it before
 * the change, or before what was read is shown.
 */
export type AddToAudit = (
  action: string,
  details: Readonly<Record<string, unknown>>,
  merchantId?: string | null,
) => Promise<void>;

/** Returns what adds entries of an author. */
export function auditOf({
  store,
  clock,
  actor,
}: {
  readonly store: Pick<Store, 'audit'>;
  readonly clock: Pick<Clock, 'wall'>;
  readonly actor: Actor;
}): AddToAudit {
  return (action, details, merchantId = null) =>
    store.audit.add({ at: clock.wall(), actor, merchantId, action, details });
}
