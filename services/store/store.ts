/**
 * The store port: merchants, API keys, endpoints, the delivery log. The api station and the recorder share one.
 * One folder beside this file per engine. test/contract/store.contract.ts states the guarantees as tests.
 *
 * - A change of an endpoint or merchant, its outbox row and its audit entry commit together.
 * - `applyJournal` commits the effects of its batches, the endpoints' health and the positions together; a batch, or a
 *   part of one, that was applied before changes nothing. `attempted` may come before `routed`.
 * - A resolved call is durable. Reads see everything that resolved before.
 * - Calls reject with StoreUnavailable (disk full, I/O error): nothing of the call was kept, or, where stated, unknown.
 */

import type { FailureCode, ResponseKept } from '../domain/attempt.ts';
import type { ApiVersion } from '../domain/endpoint.ts';
import type { JournalBatch } from '../domain/journal.ts';
import type { WebhookType } from '../domain/notices/notice.ts';
import type { ParkedReason, Trigger } from '../domain/task.ts';
import type { AnswerToStore } from './change.ts';
import type { Endpoints } from './endpoints.ts';
import type { EventFeed, EventFilter, EventListed, ListFilter, StoredEvent } from './event-feed.ts';
import type { Feed } from './feed.ts';
import type { Leases } from './leases.ts';
import type { Limits } from './limits.ts';
import type { Audit, Erasures, Sealings } from './maintenance.ts';
import type { ApiKeys, Merchants } from './merchants.ts';
import type { Metrics } from './metrics.ts';
import type { Notices } from './notices.ts';
import type { Outbox } from './outbox.ts';
import type { PortalSessions } from './portal-sessions.ts';
import type { Replays, TraceRecord } from './replays.ts';
import type { StoreStatus } from './status.ts';

export type * from './endpoints.ts';
export type { EventFilter, EventListed, StoredEvent } from './event-feed.ts';
export type { ApiKey, ApiKeys, Merchants, PublishRights } from './merchants.ts';

export interface Store {
  readonly merchants: Merchants;
  readonly keys: ApiKeys;
  readonly endpoints: Endpoints;
  readonly answers: StoredAnswers;
  readonly limits: Limits;
  readonly leases: Leases;
  readonly outbox: Outbox;
  readonly log: DeliveryLog;
  readonly lists: MerchantLists;
  readonly metrics: Metrics;
  readonly feed: Feed;
  readonly eventFeed: EventFeed;
  readonly replays: Replays;
  readonly notices: Notices;
  readonly portalSessions: PortalSessions;
  readonly audit: Audit;
  readonly sealings: Sealings;
  readonly erasures: Erasures;
  status(): StoreStatus;
  /**
   * Copies the store, as it is now, into a new file, while it is in use; rejects when that exists. Resolves when
   * durable.
   */
  backup(toFile: string): Promise<{ readonly bytes: number }>;
  /** Resolves (never rejects) with the reason when the store cannot continue. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/**
 * The result of the call:
 * - `away`: nothing was kept, unless the call's description says that it is not known.
 * - `unknown`: the connection was lost during the commit; a repeat with the same Idempotency-Key tells.
 * - `reconciling`: nothing was kept; the store was set back (Outbox.timeline), and accepts no change yet.
 */
type UnavailableState = 'away' | 'unknown' | 'reconciling';

/** The store cannot respond now (disk full, I/O error): 503 to a caller. The message is fit for an operator. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly state: UnavailableState;

  constructor(
    message: string,
    { state = 'away', ...options }: ErrorOptions & { state?: UnavailableState } = {},
  ) {
    super(message, options);
    this.state = state;
  }
}

/** How long a claim lasts, unless its answer is stored or it is released: a request that takes longer has failed. */
export const CLAIM_MS = 60_000;

export type Claim =
  /** The caller may carry out the request, and stores its answer with this token. */
  | { readonly kind: 'claimed'; readonly token: string }
  /** Another request has the claim. */
  | { readonly kind: 'running' }
  | {
      readonly kind: 'stored';
      readonly requestHash: string;
      readonly status: number;
      readonly sealed: string;
      readonly outboxId: number;
    };

/** The answers of requests with an Idempotency-Key: of those with one scope at most one carries out its change. */
export interface StoredAnswers {
  /** Claims a scope for one request. A claim need not survive a crash: neither does its request. */
  claim(scope: string, now: number): Promise<Claim>;
  /** Ends a claim whose request has no answer to store. One that has ended already stays ended. */
  release(scope: string, token: string): Promise<void>;
  /**
   * Stores the response to a request that changed nothing in the store (a resend), so that it has no transaction of its
   * own. Rejects with StoreConflict.
   */
  keep(answer: AnswerToStore, at: number): Promise<void>;
}

/**
 *     pending ──► delivered                         a response with 2xx
 *        │  └───► failed ──► delivered              a failed attempt with retries left; then a successful one
 *        │           ├─────► exhausted              the last attempt failed
 *        │           └─────► refused                a 410
 *        ├──────► exhausted                         the only attempt failed
 *        ├──────► refused                           a 410
 *        └──────► cancelled ◄── failed              the endpoint was deleted or disabled before the next attempt
 *
 * An attempt that is recorded late changes `cancelled`; nothing changes `delivered`.
 */
export const DELIVERY_STATUSES = [
  'pending',
  'delivered',
  'failed',
  'exhausted',
  'refused',
  'cancelled',
] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface DeliveryRecord {
  readonly deliveryId: string;
  readonly merchantId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly entityId: string;
  /** The id of its event's subject (domain/catalog/subject.ts); null: the entity. */
  readonly subjectId: string | null;
  /** The place of its event among those of the entity (domain/catalog/sequence.ts). */
  readonly sequence: number;
  readonly type: WebhookType;
  readonly subType: string;
  readonly apiVersion: ApiVersion;
  readonly trigger: Trigger;
  readonly status: DeliveryStatus;
  /** Why it was cancelled, else null. */
  readonly cancelReason: string | null;
  readonly attemptsMade: number;
  readonly attemptsMax: number;
  readonly occurredAt: number;
  readonly createdAt: number;
  /** When its next attempt is due by the schedule, or when it comes up again after it was parked. */
  readonly nextAttemptAt: number | null;
  /** Why it is parked, else null. */
  readonly parkedReason: ParkedReason | null;
  readonly lastAttemptAt: number | null;
  readonly lastResponseStatus: number | null;
  readonly lastFailureCode: FailureCode | null;
}

export interface DeliveryPage {
  readonly records: readonly DeliveryRecord[];
  /** `after` of the next page; null = there is none. */
  readonly next: string | null;
}

export interface AttemptRecord {
  readonly number: number;
  readonly trigger: Trigger;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly response: ResponseKept | null;
  readonly failureCode: FailureCode | null;
  readonly failureDetail: string | null;
  readonly nextAttemptAt: number | null;
  readonly signature: string;
}

export const EVENTS_OF_ID_MAX = 10;

/** The merchant and the endpoint that a delivery is for. */
export type DeliveryOwner = Pick<DeliveryRecord, 'merchantId' | 'endpointId'>;

export interface DeliveryLog {
  /**
   * Records all batches in one transaction, or none. Rejects with PositionLost when the position of a partition is before
   * `after` of its batch.
   */
  applyJournal(batches: readonly JournalBatch[]): Promise<void>;
  positionOf(partition: string): Promise<number | undefined>;
  delivery(
    merchantId: string,
    endpointId: string,
    deliveryId: string,
  ): Promise<
    | (DeliveryRecord & {
        readonly attempts: readonly AttemptRecord[];
        /** Null while it is not recorded yet, and after it was removed. */
        readonly body: Uint8Array | null;
        /** Its event's bodies were removed, by age or by an erasure, and the responses' with them. */
        readonly bodyRemoved: boolean;
      })
    | undefined
  >;
  event(
    merchantId: string,
    eventId: string,
  ): Promise<
    | {
        readonly event: StoredEvent;
        /** The id of its subject (domain/catalog/subject.ts); null: the entity. */
        readonly subjectId: string | null;
        readonly sequence: number;
        readonly routedAt: number;
        readonly trace: readonly TraceRecord[];
      }
    | undefined
  >;
  /** Returns the merchant and the endpoint of a delivery; undefined when the log has no such delivery. */
  ownerOf(deliveryId: string): Promise<DeliveryOwner | undefined>;
  /** Returns the endpoint of one of the merchant's deliveries; undefined when it has no such delivery. */
  endpointOf(merchantId: string, deliveryId: string): Promise<string | undefined>;
  /**
   * Returns the routed events with this id, of whatever merchant, at most EVENTS_OF_ID_MAX: there is one, unless producers
   * of several merchants chose the same id.
   */
  eventsOf(eventId: string): Promise<readonly EventListed[]>;
  /**
   * Returns whether the log has the delivery. `createdAt`: when it was made, milliseconds since the epoch; an engine that
   * keeps its log by time looks there only.
   */
  isRecorded(deliveryId: string, createdAt: number): Promise<boolean>;
  /** Resolves true once the delivery's first attempt is recorded or it was cancelled, false when the signal fires. */
  waitForAttempt(deliveryId: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Deletes deliveries and events older than `before`, at most `limit` rows or one leaf: an engine that keeps its log in
   * leaves, one for each span of time, drops a leaf when all of it is older, and prepares one that has ended for reads.
   * Returns the number of rows, or leaves; 0: there is nothing to do.
   */
  retain(before: number, limit: number): Promise<number>;
  /**
   * Removes bodies of events and deliveries older than `before` and keeps the rows, in steps as `retain` does. Returns the
   * number of rows examined, or leaves; 0: nothing is old enough.
   */
  removeBodies(before: number, limit: number): Promise<number>;
}

interface PageOptions {
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string;
}

export interface DeliveryFilter extends ListFilter {
  readonly status?: DeliveryStatus;
}

export interface EventPage {
  readonly records: readonly EventListed[];
  /** `after` of the next page; null = there is none. */
  readonly next: string | null;
}

/**
 * Lists of one merchant, or of all where it is null, newest first by `createdAt`, keyset on an opaque, stable order: a row that stays is on exactly
 * one page, whatever is added meanwhile. One call examines a bounded number of rows: where few of very many match, a
 * page may have fewer than `limit`, or none, and still a `next`. Over all merchants a step looks at the newest rows of
 * each, so it takes longer with their number (on SQLite: of endpoints), not with that of their rows. Rejects with
 * CursorInvalid.
 */
export interface MerchantLists {
  /** Deliveries to all endpoints, deleted ones included, and to the single webhook of 2.2.8. */
  deliveries(merchantId: string | null, options: DeliveryFilter & PageOptions): Promise<DeliveryPage>;
  /** Events that were routed, also those that went to no endpoint. */
  events(merchantId: string | null, options: EventFilter & PageOptions): Promise<EventPage>;
}
