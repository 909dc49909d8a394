import { QUARANTINE_REASONS, type Quarantined } from '../../../domain/quarantine.ts';
import { type Arguments, type Given, timeOf } from '../arguments.ts';

/** Which quarantined records a command is about. */
export const FILTER = {
  reason: { type: 'text', choices: QUARANTINE_REASONS, describe: 'Only events quarantined for this reason' },
  merchant: { type: 'text', describe: 'Only events of this merchant' },
  since: { type: 'time', describe: 'Only events quarantined since this time (RFC 3339, or 30m, 2h, 7d ago)' },
} as const satisfies Arguments;

/** The same, with the time in milliseconds since the epoch; undefined = any. */
export type Filter = Omit<Given<typeof FILTER>, 'since'> & { readonly since: number | undefined };

export function filterOf({ reason, merchant, since }: Given<typeof FILTER>, now: number): Filter {
  return { reason, merchant, since: timeOf(since, now) };
}

export function matcherOf({ reason, merchant, since }: Filter): (record: Quarantined) => boolean {
  return (record) =>
    (reason === undefined || record.reason === reason) &&
    (merchant === undefined || record.merchantId === merchant) &&
    (since === undefined || record.at >= since);
}
