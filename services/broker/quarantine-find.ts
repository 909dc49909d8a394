/** Quarantined records by what they are about: a part of the broker port (broker.ts). */
import type { Quarantined } from '../domain/quarantine.ts';

/** A quarantined event without its bytes. */
export type QuarantinedHead = Omit<Quarantined, 'bytes' | 'origin'>;

/** Which quarantined records: by event id; or by `about`, which is an event id, subject or entity, of one merchant or of all. */
export type QuarantineWanted =
  | { readonly eventId: string }
  | { readonly about: string; readonly merchantId?: string | undefined };

/** Returns the ids by which a record is found. */
export function idsOf({ eventId, subjectId, entityId }: QuarantinedHead): readonly string[] {
  return [...new Set([eventId, subjectId, entityId].flatMap((id) => id ?? []))];
}

/** Returns whether a record is among the wanted ones. */
export function isWanted(head: QuarantinedHead, wanted: QuarantineWanted): boolean {
  if ('eventId' in wanted) return head.eventId === wanted.eventId;
  const isOfMerchant = wanted.merchantId === undefined || head.merchantId === wanted.merchantId;
  return isOfMerchant && idsOf(head).includes(wanted.about);
}

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
