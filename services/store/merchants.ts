/** Merchants and API keys: a part of the store port (store.ts). */
import type { Merchant } from '../domain/merchant.ts';

export interface Merchants {
  create(merchant: {
    readonly merchantId: string;
    readonly name: string;
    readonly senderAccountDetails: boolean;
  }): Promise<Merchant>;
  get(merchantId: string): Promise<Merchant | undefined>;
  list(): Promise<readonly Merchant[]>;
  update(
    merchantId: string,
    change: Partial<Pick<Merchant, 'name' | 'state' | 'senderAccountDetails'>>,
  ): Promise<Merchant | undefined>;
}

export interface ApiKey {
  readonly keyId: string;
  /** `producer` keys (pk_…) open only the producer routes and belong to no merchant. */
  readonly kind: 'merchant' | 'producer';
  readonly merchantId: string | null;
  /** SHA-256 of the key. */
  readonly hash: Uint8Array;
  /** Enough to recognise it in a list: its first and last characters. */
  readonly hint: string;
  /** A name from its owner, to tell keys apart. */
  readonly name: string | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

export interface ApiKeys {
  create(key: ApiKey): Promise<void>;
  /** Returns the key as it is now, but for `lastUsedAt`, which may be older. */
  findByHash(hash: Uint8Array): Promise<ApiKey | undefined>;
  list(): Promise<readonly ApiKey[]>;
  /** Returns false when there is no such key, or it was already revoked. */
  revoke(keyId: string, at: number): Promise<boolean>;
  /** Best effort; may be delayed and grouped. */
  touch(keyId: string, at: number): void;
}
