/**
 * The store port: merchants, API keys, endpoints, the delivery log. The api station and the recorder share one.
 * One folder beside this file per engine. test/contract/store.contract.ts states the guarantees as tests.
 *
 * - A change of an endpoint or merchant, its outbox row and its audit entry commit together.
 * - `applyJournal` commits the effects of a batch, the endpoints' health and the position together; a batch, or a part
 *   of one, that was applied before changes nothing. `attempted` may come before `routed`.
 * - What resolved is durable. Reads see what resolved before.
 * - Rejections are StoreUnavailable (disk full, I/O error): nothing of the call was kept, or, if so said, unknown.
 */
import type { FailureCode, ResponseKept } from '../domain/attempt.ts';
import type { DirectoryChange } from '../domain/directory.ts';
import type { ApiVersion, Endpoint, EndpointStatus, SealedSecret } from '../domain/endpoint.ts';
import type { DomainEvent, EventData, EventType } from '../domain/event.ts';
import type { JournalEntry, RoutingVerdict } from '../domain/journal.ts';
import type { Trigger } from '../domain/task.ts';
import type { Audit, Erasures, Sealings } from './keeping.ts';
import type { ApiKeys, Merchants } from './merchants.ts';

export type { ApiKey, ApiKeys, Merchants } from './merchants.ts';

export interface Store {
  readonly merchants: Merchants;
  readonly keys: ApiKeys;
  readonly endpoints: Endpoints;
  readonly answers: StoredAnswers;
  readonly outbox: Outbox;
  readonly log: DeliveryLog;
  readonly audit: Audit;
  readonly sealings: Sealings;
  readonly erasures: Erasures;
  status(): { readonly reachable: boolean };
  /** Resolves (never rejects) with the reason when the store cannot go on. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/** The store cannot answer now (disk full, I/O error): 503 to a caller. The message is fit for an operator. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The cursor of a list is not one this store gave out: a caller's mistake. */
export class CursorInvalid extends Error {
  override readonly name = 'CursorInvalid';
}

/** Who made a change: the id of the API key, or the operator. */
export type Actor =
  | { readonly kind: 'api_key'; readonly keyId: string }
  | { readonly kind: 'operator' }
  | { readonly kind: 'system' };

/** The endpoint as merchants see it: the directory's part and the rest of the record (decisions §1, "Record"). */
export interface EndpointRecord extends Endpoint {
  readonly description: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** "…3fK9" */
  readonly secretHint: string;
  readonly secretRotatedAt: number | null;
  readonly disabledAt: number | null;
  readonly disabledReason: 'manual' | 'consecutive_failures' | 'gone' | null;
  readonly failureCount: number;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  readonly lastFailure: { readonly code: FailureCode; readonly responseStatus: number | null } | null;
}

export interface NewEndpoint {
  readonly uuid: string;
  readonly merchantId: string;
  /** Canonical ASCII form. */
  readonly url: string;
  readonly description: string;
  readonly subscribedEvents: readonly EventType[] | null;
  readonly apiVersion: ApiVersion;
  readonly secret: SealedSecret;
  readonly secretHint: string;
  readonly legacy: boolean;
}

export interface EndpointChange {
  readonly url?: string;
  readonly description?: string;
  readonly subscribedEvents?: readonly EventType[] | null;
  /** `active` resets the failure counters. */
  readonly status?: 'active' | 'disabled';
}

/** A stored answer for an Idempotency-Key, written in the same transaction as the change it answers. */
export interface AnswerToStore {
  /** Key id and Idempotency-Key, as one string. */
  readonly scope: string;
  readonly requestHash: string;
  readonly status: number;
  /** The answer's body, sealed by the key ring (JSON of what it made, for `scope`): it holds the secret. */
  readonly sealed: string;
  readonly expiresAt: number;
}

export type Changed<T> = {
  readonly kind: 'ok';
  readonly record: T /** Await it with outbox.published. */;
  readonly outboxId: number;
};
export type UrlTaken = { readonly kind: 'url_taken'; readonly existingUuid: string };
export type NotFound = { readonly kind: 'not_found' };

export interface Endpoints {
  create(
    endpoint: NewEndpoint,
    options: {
      readonly at: number;
      readonly actor: Actor;
      readonly quota: number;
      readonly answer?: AnswerToStore;
    },
  ): Promise<Changed<EndpointRecord> | UrlTaken | { readonly kind: 'quota_exceeded' }>;
  get(merchantId: string, uuid: string): Promise<EndpointRecord | undefined>;
  /** Managed endpoints (not legacy), newest first, keyset on (createdAt, uuid). */
  list(
    merchantId: string,
    options: {
      readonly status?: EndpointStatus;
      readonly limit: number;
      readonly after?: { readonly createdAt: number; readonly uuid: string };
    },
  ): Promise<readonly EndpointRecord[]>;
  update(
    merchantId: string,
    uuid: string,
    change: EndpointChange,
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<Changed<EndpointRecord> | UrlTaken | NotFound>;
  rotate(
    merchantId: string,
    uuid: string,
    secret: { readonly sealed: SealedSecret; readonly hint: string },
    options: { readonly at: number; readonly actor: Actor; readonly answer?: AnswerToStore },
  ): Promise<Changed<EndpointRecord> | NotFound>;
  remove(
    merchantId: string,
    uuid: string,
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<{ readonly kind: 'ok'; readonly outboxId: number } | NotFound>;
}

export interface StoredAnswers {
  find(
    scope: string,
    now: number,
  ): Promise<
    | {
        readonly requestHash: string;
        readonly status: number;
        readonly sealed: string;
        readonly outboxId: number;
      }
    | undefined
  >;
}

/** Directory changes that are committed and not yet on the DIRECTORY stream, in order. */
export interface Outbox {
  pending(limit: number): Promise<readonly { readonly outboxId: number; readonly change: DirectoryChange }[]>;
  published(upTo: number): Promise<void>;
  /** Called after each commit that added rows: the relay's wake-up. */
  onAdded(listener: () => void): void;
  /** Highest outbox id whose change was published. */
  publishedUpTo(): number;
}

export interface JournalPosition {
  readonly partition: string;
  readonly first: number;
  readonly last: number;
  /** Of each entry, growing strictly; absent: they follow one another from `first` on. */
  readonly positions?: readonly number[];
}

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'exhausted', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface DeliveryRecord {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly entityId: string;
  readonly type: EventType;
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
  readonly nextAttemptAt: number | null;
  readonly lastAttemptAt: number | null;
  readonly lastResponseStatus: number | null;
  readonly lastFailureCode: FailureCode | null;
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

/** `data` is null once the event's bodies were removed, by age or by an erasure. */
export type StoredEvent = Omit<DomainEvent, 'data'> & { readonly data: EventData | null };

export interface DeliveryLog {
  applyJournal(position: JournalPosition, entries: readonly JournalEntry[]): Promise<void>;
  positionOf(partition: string): Promise<number | undefined>;
  /** Newest first, keyset on an opaque, stable order. */
  deliveries(
    merchantId: string,
    endpointId: string,
    options: {
      readonly status?: DeliveryStatus;
      readonly type?: EventType;
      readonly since?: number;
      readonly until?: number;
      readonly limit: number;
      readonly after?: string;
    },
  ): Promise<readonly (DeliveryRecord & { readonly cursor: string })[]>;
  delivery(
    merchantId: string,
    endpointId: string,
    deliveryId: string,
  ): Promise<
    | (DeliveryRecord & {
        readonly attempts: readonly AttemptRecord[];
        /** Null while it is not recorded yet, and for ever once it was removed. */
        readonly body: Uint8Array | null;
        /** Its event's bodies were removed, by age or by an erasure; the responses' went with them. */
        readonly bodyRemoved: boolean;
      })
    | undefined
  >;
  event(
    merchantId: string,
    eventId: string,
  ): Promise<
    | { readonly event: StoredEvent; readonly routedAt: number; readonly trace: readonly RoutingVerdict[] }
    | undefined
  >;
  /** Resolves with the delivery once its first attempt is recorded (or it was cancelled), or undefined when the signal fires. */
  waitForAttempt(deliveryId: string, signal: AbortSignal): Promise<boolean>;
  /** Deletes deliveries and events older than `before`, at most `limit` rows; answers how many went. */
  retain(before: number, limit: number): Promise<number>;
  /** Removes bodies of events and deliveries older than `before`, rows stay; answers how many rows it came by. */
  removeBodies(before: number, limit: number): Promise<number>;
}
