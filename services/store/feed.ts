/** The feed of a merchant: a part of the store port (store.ts). */
import type { FailureCode } from '../domain/attempt.ts';
import type { ApiVersion } from '../domain/endpoint.ts';
import type { SkipReason } from '../domain/journal.ts';
import type { WebhookType } from '../domain/notices/notice.ts';
import type { CancelReason, Outcome } from '../domain/outcome.ts';
import type { Trigger } from '../domain/task.ts';

interface FeedEvent {
  readonly eventId: string;
  readonly entityId: string;
  /** The id of its subject (domain/catalog/subject.ts); null: the entity. */
  readonly subjectId: string | null;
  readonly sequence: number;
  readonly type: WebhookType;
  readonly subType: string;
}

export interface FeedDelivery extends FeedEvent {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly apiVersion: ApiVersion;
  readonly trigger: Trigger;
}

export interface FeedAttempt {
  readonly number: number;
  readonly attemptsMax: number;
  readonly outcome: Outcome['kind'];
  readonly startedAt: number;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly failureCode: FailureCode | null;
  readonly failureDetail: string | null;
  readonly nextAttemptAt: number | null;
}

/** How an endpoint was changed. `restored`: taken over from the directory stream, after a backup was restored. */
export const ENDPOINT_CHANGES = [
  'created',
  'updated',
  'secret_rotated',
  'deleted',
  'auto_disabled',
  'restored',
] as const;
export type EndpointChangeKind = (typeof ENDPOINT_CHANGES)[number];

/** The body of a delivery's webhook, as DeliveryLog.delivery has it. */
export interface SentBody {
  /** Null while it is not recorded yet, and after it was removed. */
  readonly body: string | null;
  readonly bodyRemoved: boolean;
}

/** An entry as it was recorded. Later changes of the delivery or endpoint do not alter it. */
export type FeedContent =
  | { readonly kind: 'routed'; readonly delivery: FeedDelivery; readonly sent?: SentBody }
  /** Null and `no_endpoint`: the merchant had no endpoint. */
  | {
      readonly kind: 'skipped';
      readonly event: FeedEvent;
      readonly endpointId: string | null;
      readonly reason: SkipReason | 'no_endpoint';
    }
  | { readonly kind: 'attempt'; readonly delivery: FeedDelivery; readonly attempt: FeedAttempt }
  | { readonly kind: 'cancelled'; readonly delivery: FeedDelivery; readonly reason: CancelReason }
  | {
      readonly kind: 'endpoint_changed';
      readonly endpointId: string;
      readonly change: EndpointChangeKind;
      /** The status that the change gave it; null = the change was of something else. */
      readonly status: string | null;
    };

export type FeedEntry = FeedContent & {
  /** `after` of what follows this entry. */
  readonly position: string;
  /** When it happened, milliseconds since the epoch. */
  readonly at: number;
};

export interface FeedPage {
  readonly entries: readonly FeedEntry[];
  /** `after` of the next page: the last entry's position, or where the page was asked to stop. */
  readonly next: string;
  /**
   * Entries that followed `after` are missing. `retention`: they were deleted, and the page begins with the oldest
   * kept. `restored`: this store never had `after`, because a backup was restored; the page is empty and ends at the
   * head.
   */
  readonly gap: 'retention' | 'restored' | null;
}

/**
 * The history of a merchant's events, deliveries and endpoints: each entry once, in one order that never changes.
 *
 * - An entry commits with what it reports, so a crash loses or repeats neither.
 * - A position is text that is valid in every process on the store, now and after a restart: a reader continues exactly
 *   after it, wherever. An engine with several writers shows an entry only when no earlier one can still commit.
 * - The order is that of recording: an attempt may come before its delivery's `routed`, when the journal has them in
 *   different partitions.
 */
export interface Feed {
  /** Returns the position after the newest entry. */
  head(merchantId: string): Promise<string>;
  /**
   * Returns entries after a position, up to another one (the head), about `limit` at most; `withBodies`: those of `routed`
   * with what is sent. Rejects with CursorInvalid when the text is no position.
   */
  read(
    merchantId: string,
    options: {
      readonly after: string;
      readonly upTo?: string;
      readonly limit: number;
      readonly withBodies?: boolean;
    },
  ): Promise<FeedPage>;
  /**
   * Calls back after entries of a merchant were added, by any process, soon after; also without a reason. Returns a
   * function that ends it. Costs nothing while nobody listens.
   */
  onAdded(merchantId: string, listener: () => void): () => void;
  /** Deletes entries older than `before`, in steps as DeliveryLog.retain does; 0: nothing is old enough. */
  retain(before: number, limit: number): Promise<number>;
}
