import { isWanted } from '../../broker/quarantine-find.ts';
import type { Quarantined, QuarantineReason } from '../../domain/quarantine.ts';

/** Which quarantined records: undefined = any. */
export interface QuarantineFilter {
  readonly reason?: QuarantineReason | undefined;
  readonly merchant?: string | undefined;
  /** An event id, or the transaction, account or user that an event is about. */
  readonly about?: string | undefined;
  /** Quarantined at this time or later, milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** Records by their positions, or by what they are: of a filter, or `all`. */
export interface QuarantineChoice extends QuarantineFilter {
  readonly positions: readonly string[];
  readonly all: boolean;
}

/** Returns what says whether a record passes a filter. */
export function matcherOf({
  reason,
  merchant,
  about,
  since,
}: QuarantineFilter): (record: Quarantined) => boolean {
  return (record) =>
    (reason === undefined || record.reason === reason) &&
    (merchant === undefined || record.merchantId === merchant) &&
    (about === undefined || isWanted(record, { about })) &&
    (since === undefined || record.at >= since);
}

/** Whether records are chosen by what they are, and not by their positions. */
export function isByFilter({
  all,
  reason,
  merchant,
  about,
  since,
}: Pick<QuarantineChoice, 'all'> & { readonly [Name in keyof QuarantineFilter]: unknown }): boolean {
  return all || [reason, merchant, about, since].some((value) => value !== undefined);
}
