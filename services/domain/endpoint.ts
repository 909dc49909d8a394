import type { NoticeFormat, WebhookType } from './notices/notice.ts';

export const API_VERSIONS = ['2.2.8', '2.3.8'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];
export const API_VERSION_DEFAULT: ApiVersion = '2.3.8';

export const ENDPOINT_STATUSES = ['active', 'disabled', 'auto_disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** A secret as it is stored and sent: sealed by the key ring, never plain. `keyId` names the key that opens it. */
export interface SealedSecret {
  readonly keyId: string;
  /** base64: 12-byte nonce, ciphertext, 16-byte tag (AES-256-GCM, the endpoint's uuid as associated data). */
  readonly ciphertext: string;
}

/** The headers of a merchant's own, which each request to the endpoint has: their values are sealed together. */
export interface SealedHeaders {
  readonly names: readonly string[];
  readonly sealed: SealedSecret;
}

/** The fields of an endpoint that routers and senders need. The store's record has more (description, health). */
export interface Endpoint {
  readonly uuid: string;
  readonly merchantId: string;
  readonly url: string;
  /** null = every type of its kind. */
  readonly subscribedEvents: readonly WebhookType[] | null;
  readonly status: EndpointStatus;
  readonly apiVersion: ApiVersion;
  readonly secret: SealedSecret;
  /** Its webhooks have the signature `v1a` of the platform's own key, too. */
  readonly publicKeySignature: boolean;
  /** The secret that the next rotation puts in force; absent: none is prepared. */
  readonly prepared?: SealedSecret;
  /** Absent: it has none. */
  readonly headers?: SealedHeaders;
  /** The most requests that it gets in a second; absent: no limit of its own. */
  readonly requestsPerSecond?: number;
  /** It gets operational notices in this form, and no events. Absent: it gets events. */
  readonly notices?: NoticeFormat;
  /** Created by the single-URL operation of API 2.2.8. */
  readonly legacy: boolean;
  /** Grows by one with every change. Each attempt records the version it used. */
  readonly version: number;
}

/** Returns the ids of the key ring's keys that open an endpoint's secrets and headers, each once. */
export function keyIdsOf(endpoint: Pick<Endpoint, 'secret' | 'prepared' | 'headers'>): readonly string[] {
  const { secret, prepared, headers } = endpoint;
  const ids = new Set([secret.keyId]);
  if (prepared) ids.add(prepared.keyId);
  if (headers) ids.add(headers.sealed.keyId);
  return [...ids];
}

/** Returns whether the filter lets the type through; no filter means all types. */
export function subscribes(endpoint: Pick<Endpoint, 'subscribedEvents'>, type: WebhookType): boolean {
  return endpoint.subscribedEvents === null || endpoint.subscribedEvents.includes(type);
}
