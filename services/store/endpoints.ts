import type { FailureCode } from '../domain/attempt.ts';
import type { EndpointCheck } from '../domain/checks/endpoint-check.ts';
import type {
  ApiVersion,
  Endpoint,
  EndpointStatus,
  SealedHeaders,
  SealedSecret,
} from '../domain/endpoint.ts';
import type { NoticeFormat, WebhookType } from '../domain/notices/notice.ts';
import type { Actor, AnswerToStore, Changed } from './change.ts';

/** The endpoint as merchants see it: the directory's part and the rest of the record. */
export interface EndpointRecord extends Endpoint {
  readonly description: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** "…3fK9" */
  readonly secretHint: string;
  readonly secretRotatedAt: number | null;
  /** "…3fK9" of the prepared secret; null: none is prepared. */
  readonly preparedHint: string | null;
  readonly preparedAt: number | null;
  /** The newest check of its present URL; null: it was not checked. */
  readonly newestCheck: EndpointCheck | null;
  /** When its headers got their present names and values; null: it never had one. */
  readonly headersSetAt: number | null;
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
  readonly subscribedEvents: readonly WebhookType[] | null;
  readonly apiVersion: ApiVersion;
  readonly secret: SealedSecret;
  readonly secretHint: string;
  readonly legacy: boolean;
  /** Absent: false. */
  readonly publicKeySignature?: boolean;
  /** Absent: none. */
  readonly headers?: SealedHeaders;
  /** Absent: no limit of its own. */
  readonly requestsPerSecond?: number;
  /** Absent: it gets events. No change makes one kind of the other. */
  readonly notices?: NoticeFormat;
  /** Absent: active. What a disabled one misses can be replayed once it is enabled. */
  readonly status?: 'active' | 'disabled';
}

export interface EndpointChange {
  readonly url?: string;
  readonly description?: string;
  readonly subscribedEvents?: readonly WebhookType[] | null;
  /** Events that are routed later are rendered in it; what waits for a retry keeps its body. */
  readonly apiVersion?: ApiVersion;
  readonly publicKeySignature?: boolean;
  readonly headers?: HeadersChange;
  /** Null: no limit of its own. */
  readonly requestsPerSecond?: number | null;
  /** `active` resets the failure counters. So does another URL: the failures were not at this one. */
  readonly status?: 'active' | 'disabled';
}

/**
 * All headers of an endpoint; null: it has none any more. `seen`: those that the caller knows of, and has kept values of;
 * when there are others by now, nothing is changed.
 */
export interface HeadersChange {
  readonly to: SealedHeaders | null;
  readonly seen: SealedHeaders | null;
}

/** A secret to store, with the part of it that may be shown. */
export interface SecretToStore {
  readonly sealed: SealedSecret;
  readonly hint: string;
}

/** The changes of the single-URL operation (docs/decisions.md, "The single webhook of 2.2.8"). */
export interface LegacyChange {
  /** Enables the endpoint again, even when the URL is unchanged. */
  readonly url?: string;
  readonly secret?: SecretToStore;
}

/** Another endpoint of the merchant has the URL, be it managed or legacy. */
export type UrlTaken = { readonly kind: 'url_taken'; readonly existingUuid: string };
/** The endpoint's headers are others than the caller has seen. */
export type HeadersChanged = { readonly kind: 'headers_changed' };
export type NotFound = { readonly kind: 'not_found' };

export type EndpointCounts = Readonly<Record<EndpointStatus | 'failing', number>>;

interface SecretOptions {
  readonly at: number;
  readonly actor: Actor;
  readonly answer?: AnswerToStore;
}

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
  /** Returns an endpoint of whatever merchant, the legacy one included. */
  find(uuid: string): Promise<EndpointRecord | undefined>;
  /**
   * Endpoints of all merchants, or of one, legacy ones included, newest first. `isFailing`: active ones whose newest
   * attempts failed. `after`: the `cursor` of the last one before. Rejects with CursorInvalid.
   */
  every(options: {
    readonly merchantId?: string;
    readonly status?: EndpointStatus;
    readonly isFailing?: boolean;
    readonly limit: number;
    readonly after?: string;
  }): Promise<readonly (EndpointRecord & { readonly cursor: string })[]>;
  /** Counts the endpoints of a merchant, or of all (null), by status, and those that fail. */
  counts(merchantId: string | null): Promise<EndpointCounts>;
  update(
    merchantId: string,
    uuid: string,
    change: EndpointChange,
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<Changed<EndpointRecord> | UrlTaken | NotFound | HeadersChanged>;
  /**
   * Puts a secret in force; a prepared one is discarded. `seen`: the prepared secret that the caller knows of, null for none:
   * when there is another by now, nothing is changed. Absent: whichever there is.
   */
  rotate(
    merchantId: string,
    uuid: string,
    secret: SecretToStore,
    options: SecretOptions & { readonly seen?: SealedSecret | null },
  ): Promise<Changed<EndpointRecord> | NotFound | { readonly kind: 'prepared_changed' }>;
  /** Keeps a secret for the next rotation, in the place of one that was prepared before; null: discards that. */
  prepare(
    merchantId: string,
    uuid: string,
    secret: SecretToStore | null,
    options: SecretOptions,
  ): Promise<Changed<EndpointRecord> | NotFound>;
  /** Keeps what a check has found, in the place of the check before; false when the endpoint or its URL is another by now. */
  keepCheck(merchantId: string, uuid: string, check: EndpointCheck): Promise<boolean>;
  remove(
    merchantId: string,
    uuid: string,
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<{ readonly kind: 'ok'; readonly outboxId: number } | NotFound>;
  /**
   * Creates, changes or (null) removes the one legacy endpoint of a merchant, in one step: its URL is never paired with
   * a secret that was not set with it. `uuid` is the same each time. Incomplete: there is no endpoint yet, and a part
   * is missing.
   */
  setLegacy(
    merchantId: string,
    uuid: string,
    change: LegacyChange | null,
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<Changed<EndpointRecord | null> | UrlTaken | { readonly kind: 'incomplete' }>;
}
