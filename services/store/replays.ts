/**
 * The part of the store port that brings back what endpoints missed: who has not got what, and the jobs ("replays") that
 * send it again. A replay's place is stored after each page that was sent, so a crash repeats one page at most.
 */
import type { EventType } from '../domain/event.ts';
import type { RoutingVerdict } from '../domain/journal.ts';
import type { MissedBecause, ReplayCancelReason, ReplayKind } from '../domain/replay.ts';
import type { Actor, AnswerToStore } from './store.ts';

/** Which events a replay is about. */
export interface ReplayScope {
  /** Null: of every merchant. */
  readonly merchantId: string | null;
  /** Null: of every active endpoint of these merchants. */
  readonly endpointId: string | null;
  readonly only: ReplayKind;
  /** When hookrail had the event, whole milliseconds since the epoch: `since` is in, `until` is out. */
  readonly since: number;
  readonly until: number;
  /** Null: every type. */
  readonly types: readonly EventType[] | null;
}

export interface NewReplay extends ReplayScope {
  readonly replayId: string;
  /** Events found when it was asked for. */
  readonly count: number;
}

export interface ReplayRecord extends NewReplay {
  /** `completed`: everything was handed over and, unless it takes long, attempted. */
  readonly status: 'running' | 'completed' | 'cancelled';
  readonly cancelReason: ReplayCancelReason | null;
  /** Deliveries handed over so far. */
  readonly published: number;
  /** Events that could not be sent any more: their body is no longer kept. */
  readonly leftOut: number;
  /** Where the next page begins; null before the first. */
  readonly place: string | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

/** An event that an endpoint should have and has not got. */
export interface MissedEvent {
  readonly eventId: string;
  readonly merchantId: string;
  readonly endpointId: string;
  readonly type: EventType;
  readonly subType: string;
  readonly because: MissedBecause;
  /** The event's own delivery; null when none was ever made. */
  readonly deliveryId: string | null;
}

/** A line of the routing trace. `byReplay`: the endpoint was passed over at first, and has got it by a replay since. */
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
  /** Those that have not ended, oldest first. */
  running(): Promise<readonly ReplayRecord[]>;
  /** Adds to what was published and left out, and stores the next page's place. False when it no longer runs. */
  advance(
    replayId: string,
    step: { readonly place: string; readonly published: number; readonly leftOut: number },
  ): Promise<boolean>;
  /** Undefined when it is unknown or has ended before. */
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
   * What was missed, by endpoint and oldest first, from a place on (null: the beginning). Looks at no more than `limit`
   * events, so a page may be empty before the last. `next`: where the page after it begins.
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
  /** Called after each commit that made a replay: the runner's wake-up. */
  onAdded(listener: () => void): void;
}
