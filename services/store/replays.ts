/**
 * The part of the store port that resends missed events: which endpoint has missed which event, and the jobs
 * ("replays") that send them again. A replay's place is stored after each page that was sent, so a crash repeats one
 * page at most.
 */
import type { RoutingVerdict } from '../domain/journal.ts';
import type { WebhookType } from '../domain/notices/notice.ts';
import type { MissedBecause, ReplayCancelReason, ReplayKind } from '../domain/replay.ts';
import type { Actor, AnswerToStore } from './change.ts';

/** The most events that a replay names one by one. */
export const REPLAYED_IDS_MAX = 1000;

/** The events that a replay covers. */
export interface ReplayScope {
  /** Null: every merchant. */
  readonly merchantId: string | null;
  /** Null: every active endpoint of these merchants. */
  readonly endpointId: string | null;
  readonly only: ReplayKind;
  /** When hookrail accepted the event, whole milliseconds since the epoch: `since` is included, `until` is not. */
  readonly since: number;
  readonly until: number;
  /** Null: every type. */
  readonly types: readonly WebhookType[] | null;
  /** Only events with these ids, at most REPLAYED_IDS_MAX; null: all. */
  readonly eventIds: readonly string[] | null;
}

export interface NewReplay extends ReplayScope {
  readonly replayId: string;
  /** The number of events found when the replay was requested. */
  readonly count: number;
}

export interface ReplayRecord extends NewReplay {
  /** `completed`: everything was published and, unless that takes long, attempted. */
  readonly status: 'running' | 'completed' | 'cancelled';
  readonly cancelReason: ReplayCancelReason | null;
  /** The number of deliveries published so far. */
  readonly published: number;
  /** The number of events that could not be sent, because their body is no longer kept. */
  readonly leftOut: number;
  /** Where the next page begins; null before the first. */
  readonly place: string | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

/** An event that an endpoint should have received but has not, or (`asked`) is to receive again. */
export interface MissedEvent {
  readonly eventId: string;
  readonly merchantId: string;
  readonly endpointId: string;
  readonly type: WebhookType;
  readonly subType: string;
  readonly because: MissedBecause;
  /** The event's own delivery; null when none was ever created. */
  readonly deliveryId: string | null;
}

/** A line of the routing trace. `byReplay`: the endpoint was skipped at first, and a replay sent it the event. */
export type TraceRecord = RoutingVerdict & { readonly byReplay?: true };

export interface Replays {
  /** `running`: the endpoint has a replay that has not ended. */
  create(
    replay: NewReplay,
    options: { readonly at: number; readonly actor: Actor; readonly answer?: AnswerToStore },
  ): Promise<
    | { readonly kind: 'ok'; readonly record: ReplayRecord }
    | { readonly kind: 'running'; readonly replayId: string }
  >;
  get(replayId: string): Promise<ReplayRecord | undefined>;
  /** Newest first, keyset on an opaque cursor: one endpoint's, or all. Rejects with CursorInvalid. */
  list(options: {
    readonly endpointId?: string;
    readonly limit: number;
    readonly after?: string;
  }): Promise<readonly (ReplayRecord & { readonly cursor: string })[]>;
  /** Returns the replays that have not ended, oldest first. */
  running(): Promise<readonly ReplayRecord[]>;
  /**
   * Adds to the numbers published and left out, and stores the next page's place. `from`: the place that the page began
   * at. Returns false, and changes nothing, when it no longer runs or is at another place: somebody else has gone on.
   */
  advance(
    replayId: string,
    step: {
      readonly from: string | null;
      readonly place: string;
      readonly published: number;
      readonly leftOut: number;
    },
  ): Promise<boolean>;
  /** Returns undefined when it is unknown or has already ended. */
  finish(
    replayId: string,
    end: {
      readonly status: 'completed' | 'cancelled';
      readonly reason: ReplayCancelReason | null;
      readonly at: number;
      readonly actor: Actor;
    },
  ): Promise<ReplayRecord | undefined>;
  /**
   * Returns missed events, and for a replay of kind `all` every event, by endpoint and oldest first, from a place on (null: the beginning). Examines no more than
   * `limit` events, so a page may be empty before the last. `next`: where the following page begins.
   */
  missed(
    scope: ReplayScope,
    place: string | null,
    limit: number,
  ): Promise<{
    readonly events: readonly MissedEvent[];
    readonly next: string;
    readonly isLast: boolean;
  }>;
  /**
   * Calls back after each commit of this process that created a replay, to wake the runner. Returns a function that ends
   * it.
   */
  onAdded(listener: () => void): () => void;
}
