/**
 * The events of a merchant that are in quarantine: they were never routed, so the store does not have them. A search for
 * an event finds here why it was not sent.
 */

import type { Broker, QuarantinedFound, QuarantinedHead } from '../../broker/broker.ts';
import { fewAtOnce, READS_AT_ONCE } from '../../process/few-at-once.ts';
import type { Store } from '../../store/store.ts';
import type { ApiContext } from '../context.ts';

type Stored = Pick<Store, 'erasures' | 'log'>;

export interface QuarantineDeps extends Stored {
  readonly quarantine: Pick<Broker['quarantine'], 'find'>;
}

export interface QuarantineSearch {
  /** Newest first. */
  readonly records: readonly QuarantinedHead[];
  /** How much of the quarantine was looked through: `newest` is all since `since`. */
  readonly searched: 'all' | 'newest' | 'none';
  /** Milliseconds since the epoch. */
  readonly since: number | null;
}

export const NOT_SEARCHED: QuarantineSearch = { records: [], searched: 'none', since: null };

/**
 * Returns the merchant's quarantined events whose event id, subject or entity is `about`. Never rejects because of the broker:
 * then the quarantine is not searched.
 */
export async function quarantinedAbout(
  deps: QuarantineDeps,
  merchantId: string,
  about: string,
): Promise<QuarantineSearch> {
  const found = await deps.quarantine.find({ merchantId, about }).catch(() => undefined);
  return found === undefined ? NOT_SEARCHED : unsentOf(deps, merchantId, found);
}

/** Leaves out records of a merchant's events that were routed. */
export async function unsentOf(
  deps: Stored,
  merchantId: string,
  { records, since }: QuarantinedFound,
): Promise<QuarantineSearch> {
  const isLeft = await fewAtOnce(records, READS_AT_ONCE, (record) => isUnsent(deps, merchantId, record));
  return {
    records: records.filter((_, index) => isLeft[index]),
    searched: since === null ? 'all' : 'newest',
    since,
  };
}

/**
 * Returns whether the event was not routed: one that was put back is in the store, and so is one of which only a delivery was
 * put aside. After a conflict of ids, the event that the store has under this id is the other one. The remains of an erased
 * entity, which retention deletes, count as gone.
 */
async function isUnsent(
  { erasures, log }: Stored,
  merchantId: string,
  { eventId, entityId, reason, deliveryId, at }: QuarantinedHead,
): Promise<boolean> {
  if (deliveryId !== undefined) return false;
  if (entityId !== undefined && (await erasures.isErased({ entityId, merchantId, at }))) return false;
  if (eventId === null || reason === 'event_id_conflict') return true;
  return (await log.event(merchantId, eventId)) === undefined;
}

/** Returns what a search needs of the API's engines. */
export function quarantineOf({ store, broker }: Pick<ApiContext, 'store' | 'broker'>): QuarantineDeps {
  return { log: store.log, erasures: store.erasures, quarantine: broker.quarantine };
}

/** Says what was not looked through, and what helps; null: nothing. */
export function searchNote({ searched, since }: QuarantineSearch): string | null {
  switch (searched) {
    case 'all':
      return null;
    case 'newest':
      return `Of the events in quarantine, only those since ${new Date(since ?? 0).toISOString()} were looked through: ask your platform about earlier ones.`;
    case 'none':
      return 'The events in quarantine could not be looked through: ask again in a moment.';
  }
}
