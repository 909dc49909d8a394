import { QUARANTINE_REASONS, type Quarantined, type QuarantineReason } from '../../domain/quarantine.ts';
import { type Arguments, OperatorError, timeOf } from './arguments.ts';

/** Which quarantined records a command is about; undefined = any. */
export interface Filter {
  readonly reason: QuarantineReason | undefined;
  readonly merchant: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
}

export function filterOf(given: Arguments, now: number): Filter {
  const { reason, merchant } = given;
  if (merchant !== undefined && typeof merchant !== 'string')
    throw new OperatorError('merchant: must be a text');
  const known = QUARANTINE_REASONS.find((candidate) => candidate === reason);
  if (reason !== undefined && known === undefined) {
    throw new OperatorError(`reason: must be one of ${QUARANTINE_REASONS.join(', ')}`);
  }
  return { reason: known, merchant, since: timeOf(given, 'since', now) };
}

export function matcherOf({ reason, merchant, since }: Filter): (record: Quarantined) => boolean {
  return (record) =>
    (reason === undefined || record.reason === reason) &&
    (merchant === undefined || record.merchantId === merchant) &&
    (since === undefined || record.at >= since);
}
