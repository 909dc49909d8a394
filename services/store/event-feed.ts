/** The events of a merchant in the order of recording: a part of the store port (store.ts). */
import type { DomainEvent, EventData } from '../domain/event.ts';
import type { RoutingVerdict } from '../domain/journal.ts';
import type { WebhookType } from '../domain/notices/notice.ts';
import type { FeedPage } from './feed.ts';
import type { TraceRecord } from './replays.ts';

/** `data` is null once the event's bodies were removed, by age or by an erasure. */
export type StoredEvent = Omit<DomainEvent, 'data'> & { readonly data: EventData | null };

/** Every condition must be met. Times are milliseconds since the epoch: `since` is included, `until` is not. */
export interface ListFilter {
  readonly endpointId?: string;
  /** The user or corporate. */
  readonly entityId?: string;
  /** The id of the event's subject: the entity, where it is about nothing else. */
  readonly subjectId?: string;
  /** The transaction that the event is about. */
  readonly transactionId?: string;
  readonly type?: WebhookType;
  readonly subType?: string;
  readonly since?: number;
  readonly until?: number;
}

export interface EventFilter extends ListFilter {
  /** Events with this verdict in their trace; with `endpointId`, the verdict on that endpoint. */
  readonly verdict?: RoutingVerdict['verdict'];
}

/** An event of a list; its data is read with `DeliveryLog.event`. */
export interface EventListed {
  readonly event: Omit<StoredEvent, 'data'>;
  readonly subjectId: string | null;
  readonly sequence: number;
  readonly createdAt: number;
  readonly routedAt: number;
  readonly trace: readonly TraceRecord[];
}

/** An event of the feed. */
export interface EventFed extends EventListed {
  /** Its data as JSON; null once that was removed, and where it was not asked for. */
  readonly data: string | null;
}

export interface EventFeedPage {
  readonly records: readonly EventFed[];
  /** `after` of the next page, also where nothing follows yet. */
  readonly next: string;
  /** Whether there was nothing behind the page when it was read. */
  readonly isEnd: boolean;
  /** Events that followed `after` are missing; see FeedPage. */
  readonly gap: FeedPage['gap'];
}

/**
 * Each event of a merchant once, in the order in which the routings were recorded: the `routed` rows of the feed (feed.ts),
 * whose positions it shares. An event that is recorded late comes last, so a reader that continues misses none. A page
 * examines a bounded number of rows: it may have fewer than `limit`, or none, before the end.
 */
export interface EventFeed {
  /**
   * Returns the events after a position; from the oldest that the feed has, without one. Rejects with CursorInvalid when
   * the text is no position.
   */
  read(
    merchantId: string,
    options: EventFilter & { readonly after?: string; readonly limit: number; readonly withData: boolean },
  ): Promise<EventFeedPage>;
}
