/** Merchants and API keys: a part of the store port (store.ts). */
import type { PlatformScope } from '../domain/access/platform-scopes.ts';
import type { KeyKind } from '../domain/api-key.ts';
import type { EventType } from '../domain/event.ts';
import type { Merchant } from '../domain/merchant.ts';
import type { Actor, AnswerToStore } from './change.ts';

/** `actor` of each change: an operator whose name is not known, unless given. */
export interface Merchants {
  create(
    merchant: {
      readonly merchantId: string;
      readonly name: string;
      readonly senderAccountDetails: boolean;
    },
    actor?: Actor,
    answer?: AnswerToStore,
  ): Promise<Merchant>;
  get(merchantId: string): Promise<Merchant | undefined>;
  list(): Promise<readonly Merchant[]>;
  /** Oldest first, keyset on `seq`. */
  page(options: {
    readonly limit: number;
    readonly after?: number;
    readonly state?: Merchant['state'];
  }): Promise<readonly (Merchant & Numbered)[]>;
  /** One that is closed stays as it is. */
  update(
    merchantId: string,
    change: Partial<Pick<Merchant, 'name' | 'state' | 'senderAccountDetails'>>,
    /** `reason`: why, for the audit. */
    by?: { readonly actor?: Actor; readonly reason?: string | undefined },
  ): Promise<Merchant | undefined>;
  /**
   * Closes a merchant for good: revokes its keys, ends its sessions of the console and its replays, and deletes its
   * endpoints. One that is closed stays as it is.
   */
  close(
    merchantId: string,
    by: {
      readonly at: number;
      readonly actor: Actor;
      readonly reason?: string | undefined;
      /** Orders, too, that the bodies of its events are erased; one that is closed already included. */
      readonly erase?: boolean;
    },
  ): Promise<Merchant | undefined>;
}

/** The place of a row in a list. */
interface Numbered {
  readonly seq: number;
}

/** The types and merchants that a producer's key may publish. */
export interface PublishRights {
  /** Absent: events of every type. */
  readonly types?: readonly EventType[];
  /** Absent: events of every merchant. */
  readonly merchants?: readonly string[];
}

export interface ApiKey extends PublishRights {
  readonly keyId: string;
  /** Keys of producers (pk_…) and of the platform (plk_…) open only their own routes and belong to no merchant. */
  readonly kind: KeyKind;
  readonly merchantId: string | null;
  /** The scopes of a key of the platform; absent: it was made before there were scopes. */
  readonly scopes?: readonly PlatformScope[];
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
  create(key: ApiKey, actor?: Actor, answer?: AnswerToStore): Promise<void>;
  get(keyId: string): Promise<ApiKey | undefined>;
  /** Returns the key as it is now, but for `lastUsedAt`, which may be older. */
  findByHash(hash: Uint8Array): Promise<ApiKey | undefined>;
  list(): Promise<readonly ApiKey[]>;
  /** The keys of a merchant, oldest first, keyset on `seq`. */
  page(
    merchantId: string,
    options: { readonly limit: number; readonly after?: number },
  ): Promise<readonly (ApiKey & Numbered)[]>;
  /** Returns false when there is no such key, or it was already revoked. */
  revoke(keyId: string, at: number, actor?: Actor): Promise<boolean>;
  /**
   * Replaces the lists of a producer's key: null = all, absent = as it is. Returns the key, or undefined when there is
   * no such key of a producer in use.
   */
  setRights(
    keyId: string,
    change: { readonly [List in keyof PublishRights]?: NonNullable<PublishRights[List]> | null },
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<ApiKey | undefined>;
  /** Best effort; may be delayed and grouped. */
  touch(keyId: string, at: number): void;
}
