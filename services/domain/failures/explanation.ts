/**
 * Sentences that say why an endpoint has not received an event, or what becomes of it, and what helps: for the merchant's
 * developer who asks "why did I not get it?". The console, the API and the command line show the same ones.
 */
import type { FailureCode } from '../attempt.ts';
import type { ApiVersion } from '../endpoint.ts';
import type { SkipReason } from '../journal.ts';
import type { CancelReason } from '../outcome.ts';
import type { Quarantined, QuarantineReason } from '../quarantine.ts';
import { QUARANTINE_TEXTS } from '../routing/quarantine-texts.ts';
import type { ParkedReason } from '../task.ts';
import { CODE_SIGNS } from './failure-codes.ts';

/** Where an endpoint is changed, and where what it missed is brought back. */
const ENABLE = 'PATCH /merchant/webhook-endpoints/{id} with status active';
const REPLAY = 'POST /merchant/webhook-endpoints/{id}/replay with only "missing"';

const SKIPPED: Readonly<Record<SkipReason | 'no_endpoint', string>> = {
  filtered: `Not sent: the endpoint's subscribed_events did not have this type. Add the type to receive the next ones.`,
  endpoint_disabled: `Not sent: the endpoint was disabled. Enable it (${ENABLE}), then bring back what it missed (${REPLAY}).`,
  endpoint_auto_disabled: `Not sent: hookrail had disabled the endpoint because its deliveries kept failing. Mend the receiver, enable the endpoint (${ENABLE}), then bring back what it missed (${REPLAY}).`,
  type_not_in_api_version:
    'Not sent: the API version of the endpoint does not have this type. Use an endpoint of version 2.3.8.',
  subtype_not_in_api_version:
    'Not sent: the API version of the endpoint does not have this subType. Use an endpoint of version 2.3.8.',
  no_endpoint:
    'Not sent: there was no endpoint when the event was accepted. Create one (POST /merchant/webhook-endpoints) to receive the next ones.',
};

/** Every reason for which there is a sentence, by what has become of the event. */
export const EXPLAINED_REASONS = {
  skipped: () => Object.keys(SKIPPED) as (keyof typeof SKIPPED)[],
  cancelled: () => Object.keys(CANCELLED) as (keyof typeof CANCELLED)[],
  parked: () => Object.keys(PARKED) as (keyof typeof PARKED)[],
} as const;

/** Says why an endpoint was passed over when the event was routed. */
export function explainSkip(reason: SkipReason | 'no_endpoint'): string {
  return SKIPPED[reason];
}

/** The details that are about the event; those of the other reasons are about the inside of the platform. */
const TOLD: readonly QuarantineReason[] = [
  'schema_violation',
  'too_large',
  'event_id_conflict',
  'unknown_merchant',
  'simulated_in_production',
];

/** Says why an event was not routed, and what the merchant can do. */
export function explainQuarantine({
  reason,
  detail,
  at: since,
  eventId,
}: Pick<Quarantined, 'reason' | 'detail' | 'at' | 'eventId'>): string {
  const { title, platformHasTo } = QUARANTINE_TEXTS[reason];
  const told = TOLD.includes(reason) ? `: ${detail}` : '';
  const ask = eventId === null ? '' : `; ask it with event id ${eventId}`;
  return `Not sent: the event went into quarantine${at(since)}. ${title}${told}. Your platform has to ${platformHasTo}${ask}.`;
}

const CANCELLED: Readonly<Record<CancelReason, string>> = {
  endpoint_deleted: 'the endpoint was deleted. Create it anew to receive the next ones',
  endpoint_disabled: `the endpoint was disabled before it arrived. Enable it (${ENABLE}), then bring it back (${REPLAY})`,
  endpoint_auto_disabled: `hookrail disabled the endpoint because its deliveries kept failing. Mend the receiver, enable the endpoint (${ENABLE}), then bring it back (${REPLAY})`,
  endpoint_changed: `the endpoint was changed: it no longer took the event, or no longer had the prepared secret of a test. Bring it back if you want it (${REPLAY})`,
};

const PARKED: Readonly<Record<ParkedReason, string>> = {
  endpoint_full:
    'the endpoint has as many requests open as it is given; answer sooner to receive more at once',
  rate_limited_here:
    'the endpoint gets no more requests per second than its requests_per_second; raise it to receive more',
  merchant_paused: 'the operator has put your deliveries on hold',
  secret_not_openable: 'the service cannot open the secret of the endpoint: quote this delivery to support',
  signing_key_missing:
    'the service lacks the key of the signature v1a that the endpoint asks for: quote this delivery to support',
  machine_limit: 'the service is at a limit of its machine, and continues by itself',
  egress_proxy: 'the proxy of the service does not respond, and it continues by itself',
  origin_connections: 'the server of the endpoint has as many connections open as it is given',
  network_down: 'the network of the service was down, and it continues by itself',
  put_aside: 'the service has put it aside: quote this delivery to support',
};

/** Says why a delivery waits although it is due; the beginning of a sentence, without its full stop. */
export function explainParking(reason: ParkedReason): string {
  return PARKED[reason];
}

/** The facts that a sentence about a delivery states. Times are milliseconds since the epoch. */
export interface Explained {
  readonly status: 'pending' | 'delivered' | 'failed' | 'exhausted' | 'refused' | 'cancelled';
  readonly cancelReason: string | null;
  readonly parkedReason: ParkedReason | null;
  readonly attemptsMade: number;
  readonly attemptsMax: number;
  readonly nextAttemptAt: number | null;
  readonly lastAttemptAt: number | null;
  readonly lastResponseStatus: number | null;
  readonly lastFailureCode: FailureCode | null;
  readonly apiVersion: ApiVersion;
}

/** Says what has become of a delivery. `isPaused`: the operator holds the merchant's deliveries back. */
export function explainDelivery(delivery: Explained, isPaused: boolean): string {
  const { status, attemptsMade, attemptsMax, cancelReason } = delivery;
  switch (status) {
    case 'delivered':
      return `Delivered${at(delivery.lastAttemptAt)} by attempt ${attemptsMade}: the receiver answered ${delivery.lastResponseStatus}.`;
    case 'cancelled':
      return `Not sent any more: ${CANCELLED[cancelReason as CancelReason] ?? cancelReason}.`;
    case 'refused':
      return `Not sent any more: ${failure(delivery)}`;
    case 'exhausted':
      return `Not sent any more: ${attemptsMade === 1 ? 'its only attempt' : `all ${attemptsMade} attempts`} failed. ${failure(delivery)} Then bring it back (POST …/deliveries/{delivery_id}/resend, or a replay).`;
    case 'failed':
    case 'pending':
      return owed(delivery, isPaused, attemptsMade === 0 ? '' : ` ${failure(delivery)}`, attemptsMax);
  }
}

/** Says why it is still owed, and when it is due. */
function owed(delivery: Explained, isPaused: boolean, failed: string, attemptsMax: number): string {
  const { attemptsMade, nextAttemptAt, parkedReason } = delivery;
  const attempt = `attempt ${attemptsMade + 1} of ${attemptsMax}`;
  if (isPaused) return `Owed, and held: ${PARKED.merchant_paused}. It is sent when the hold ends.${failed}`;
  if (parkedReason !== null)
    return `Owed: ${attempt} waits, because ${PARKED[parkedReason]}.${due(nextAttemptAt)}${failed}`;
  if (attemptsMade === 0) return 'Owed: its first attempt is under way.';
  return `Owed: ${attempt} is due${at(nextAttemptAt)}.${failed}`;
}

function failure({ lastFailureCode, lastResponseStatus, attemptsMade }: Explained): string {
  if (lastFailureCode === null) return '';
  const { says, remedy } = CODE_SIGNS[lastFailureCode];
  const answered = lastResponseStatus === null ? '' : ` (HTTP ${lastResponseStatus})`;
  return `Attempt ${attemptsMade}: ${lastFailureCode}${answered}. ${says} ${remedy}`;
}

function due(time: number | null): string {
  return time === null ? '' : ` It comes up again${at(time)}.`;
}

function at(time: number | null): string {
  return time === null ? '' : ` at ${new Date(time).toISOString()}`;
}
