import { QUARANTINE_REASONS } from '../../../domain/quarantine.ts';
import type { QuarantineFilter } from '../../../management/quarantine/choice.ts';
import { type Arguments, type Given, timeOf } from '../arguments.ts';

/** Which quarantined records a command is about. */
export const FILTER = {
  reason: { type: 'text', choices: QUARANTINE_REASONS, describe: 'Only events quarantined for this reason' },
  merchant: { type: 'text', describe: 'Only events of this merchant' },
  about: {
    type: 'text',
    describe: 'Only events with this event id, or about this transaction, account or user',
  },
  since: { type: 'time', describe: 'Only events quarantined since this time (RFC 3339, or 30m, 2h, 7d ago)' },
} as const satisfies Arguments;

/** The arguments of a command may hold others, which are no part of the filter. */
export function filterOf(
  { reason, merchant, about, since }: Given<typeof FILTER>,
  now: number,
): QuarantineFilter {
  return { reason, merchant, about, since: timeOf(since, now) };
}
