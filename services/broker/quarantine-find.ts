/** Quarantined records by what they are about: a part of the broker port (broker.ts). */
import type { Quarantined } from '../domain/quarantine.ts';

/** A quarantined event without its bytes. */
export type QuarantinedHead = Omit<Quarantined, 'bytes' | 'origin'>;

/**
 * Which quarantined records: those of an event id, whoever they are for; or those for one merchant whose event id, subject or
 * entity is `about`.
 */
export type QuarantineWanted =
  | { readonly eventId: string }
  | { readonly merchantId: string; readonly about: string };

/** At most QUARANTINED_FOUND_MAX, newest first. */
export interface QuarantinedFound {
  readonly records: readonly QuarantinedHead[];
  /** Older records were not looked through, milliseconds since the epoch; null: all were. */
  readonly since: number | null;
}
export const QUARANTINED_FOUND_MAX = 10;

/** Returns a record without its bytes. */
export function headOf({ bytes: _, origin: __, ...head }: Quarantined): QuarantinedHead {
  return head;
}
