import { subTypesOf, typesOf } from './catalog/catalog.ts';
import { type Endpoint, subscribes } from './endpoint.ts';
import { isNoticeType, type WebhookType } from './notices/notice.ts';
import type { CancelReason } from './outcome.ts';

/**
 * The kinds of replay. `failed` sends deliveries that failed for good; `missing` also sends the other events that the
 * endpoint should have received but has not; `all` sends every event that it would receive now, whatever became of it.
 */
export const REPLAY_KINDS = ['failed', 'missing', 'all'] as const;
export type ReplayKind = (typeof REPLAY_KINDS)[number];

/**
 * Why a replay sends an event: the endpoint was disabled when it was routed, the delivery failed for good, the receiver
 * answered 410, or the delivery was cancelled. `asked`: because everything is sent.
 */
export type MissedBecause = 'skipped' | 'exhausted' | 'refused' | 'cancelled' | 'asked';

/**
 * Why a replay ended before its last event: its endpoint is no longer active, its merchant was closed, or an operator or the
 * platform cancelled it.
 */
export type ReplayCancelReason = CancelReason | 'operator' | 'merchant_closed';

/** Returns whether a replay of this kind sends again what was missed for this reason. */
export function replays(kind: ReplayKind, because: MissedBecause): boolean {
  return kind !== 'failed' || because === 'exhausted' || because === 'refused';
}

/**
 * Returns whether the endpoint in its present state would receive such an event: its filter lets the type through and
 * its API version has type and subType.
 */
export function wouldReceive(
  endpoint: Pick<Endpoint, 'subscribedEvents' | 'apiVersion' | 'notices'>,
  { type, subType }: { readonly type: WebhookType; readonly subType: string },
): boolean {
  const { apiVersion } = endpoint;
  if (isNoticeType(type)) return endpoint.notices !== undefined && subscribes(endpoint, type);
  return (
    endpoint.notices === undefined &&
    subscribes(endpoint, type) &&
    typesOf(apiVersion).includes(type) &&
    subTypesOf(type, apiVersion).includes(subType)
  );
}
