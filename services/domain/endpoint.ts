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
  /** It gets operational notices in this form, and no events. Absent: it gets events. */
  readonly notices?: NoticeFormat;
  /** Created by the single-URL operation of API 2.2.8. */
  readonly legacy: boolean;
  /** Grows by one with every change. Each attempt records the version it used. */
  readonly version: number;
}

/** Returns the ids of the key ring's keys that open an endpoint's secrets, each once. */
export function keyIdsOf({ secret, prepared }: Pick<Endpoint, 'secret' | 'prepared'>): readonly string[] {
  if (prepared === undefined || prepared.keyId === secret.keyId) return [secret.keyId];
  return [secret.keyId, prepared.keyId];
}

/** Returns whether the filter lets the type through; no filter means all types. */
export function subscribes(endpoint: Pick<Endpoint, 'subscribedEvents'>, type: WebhookType): boolean {
  return endpoint.subscribedEvents === null || endpoint.subscribedEvents.includes(type);
}
