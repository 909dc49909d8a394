import { type Endpoint, keyIdsOf } from './endpoint.ts';
import type { Merchant } from './merchant.ts';

/**
 * One change of the directory. `version` grows with every change of the same key; followers
 * ignore a version that is not higher than the one they have, so a late or repeated change resurrects nothing.
 * A delete is a change of its own (`value: null`) and stays as a tombstone.
 */
export type DirectoryChange =
  | {
      readonly kind: 'merchant';
      readonly id: string;
      readonly version: number;
      readonly value: Merchant | null;
      readonly seal?: Seal;
    }
  | {
      readonly kind: 'endpoint';
      readonly id: string;
      readonly version: number;
      readonly value: Endpoint | null;
      readonly seal?: Seal;
    };

/** Shows that a record was made by a process with the key ring (seals/record-seals.ts). */
export interface Seal {
  /** The key of the ring that its own key is derived from. */
  readonly keyId: string;
  /** The version of the record that was sealed. */
  readonly version: number;
  /** base64 */
  readonly mac: string;
}

/** Returns the key of a change on the DIRECTORY stream: `merchant:<id>` or `endpoint:<id>`. */
export function directoryKey(change: Pick<DirectoryChange, 'kind' | 'id'>): string {
  return `${change.kind}:${change.id}`;
}

const NO_ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map();

/** The table of merchants and endpoints that routers and senders hold in memory, kept current by applying changes. */
export class Directory {
  readonly #merchants = new Map<string, Merchant>();
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #endpointsByMerchant = new Map<string, Map<string, Endpoint>>();
  /** The change with the highest version per key, deletes included. */
  readonly #newest = new Map<string, DirectoryChange>();
  /** The number of endpoints that each key of the key ring seals something of. */
  readonly #sealedWith = new Map<string, number>();
  readonly #rates = new Map<string, number>();
  /** Records that are not in force, and whose deliveries wait; by key. */
  readonly #held = new Map<string, DirectoryChange>();
  /** The key that the held record of a key waits for. */
  readonly #needed = new Map<string, string>();

  /** Applies a change; returns false when it is not newer than the last of its key. */
  apply(change: DirectoryChange): boolean {
    const key = directoryKey(change);
    const known = this.#newest.get(key);
    if (known !== undefined && change.version <= known.version) return false;
    this.#newest.set(key, change);
    const held = this.#held.get(key);
    // One that waits for its key is newer than what arrives late.
    if (held && !(this.#needed.has(key) && change.version < held.version)) this.#release(key);
    if (change.kind === 'merchant') this.#applyMerchant(change.id, change.value);
    else this.#applyEndpoint(change.id, change.value);
    return true;
  }

  /**
   * Holds the deliveries of a merchant or an endpoint until a change of it is applied: the given one cannot be, and the
   * state to go by is not known. `needsKey`: it can be once the key ring has its key.
   */
  hold(change: DirectoryChange, { needsKey }: { readonly needsKey: boolean }): void {
    const key = directoryKey(change);
    this.#release(key);
    this.#held.set(key, change);
    if (needsKey && change.seal) {
      this.#needed.set(key, change.seal.keyId);
      this.#countSealed(change.seal.keyId, 1);
    }
  }

  /** Returns whether the deliveries of an endpoint are held. */
  isHeld(merchantId: string, endpointId: string): boolean {
    if (this.#held.size === 0) return false;
    return this.#held.has(`endpoint:${endpointId}`) || this.#held.has(`merchant:${merchantId}`);
  }

  #release(key: string): void {
    const needed = this.#needed.get(key);
    if (needed !== undefined) this.#countSealed(needed, -1);
    this.#needed.delete(key);
    this.#held.delete(key);
  }

  /** Returns the last change of a key, a delete included. */
  newest(change: Pick<DirectoryChange, 'kind' | 'id'>): DirectoryChange | undefined {
    return this.#newest.get(directoryKey(change));
  }

  /** Returns the last change of every key, deletes included. */
  all(): Iterable<DirectoryChange> {
    return this.#newest.values();
  }

  merchant(id: string): Merchant | undefined {
    return this.#merchants.get(id);
  }

  endpoint(id: string): Endpoint | undefined {
    return this.#endpoints.get(id);
  }

  /** Returns the merchant's endpoints that events are routed to. */
  endpointsOf(merchantId: string): Iterable<Endpoint> {
    return (this.#endpointsByMerchant.get(merchantId) ?? NO_ENDPOINTS).values();
  }

  get endpointCount(): number {
    return this.#endpoints.size;
  }

  /** Ids of the key ring's keys that endpoints need, with the number of endpoints of each. */
  get sealedWith(): ReadonlyMap<string, number> {
    return this.#sealedWith;
  }

  /** The requests per second of the endpoints that have a limit of their own, by uuid. */
  get rates(): ReadonlyMap<string, number> {
    return this.#rates;
  }

  #applyMerchant(id: string, value: Merchant | null): void {
    if (value) this.#merchants.set(id, value);
    else this.#merchants.delete(id);
  }

  #applyEndpoint(id: string, value: Endpoint | null): void {
    const before = this.#endpoints.get(id);
    if (before) for (const keyId of keyIdsOf(before)) this.#countSealed(keyId, -1);
    if (value) for (const keyId of keyIdsOf(value)) this.#countSealed(keyId, 1);
    if (value?.requestsPerSecond === undefined) this.#rates.delete(id);
    else this.#rates.set(id, value.requestsPerSecond);
    if (value) this.#endpoints.set(id, value);
    else this.#endpoints.delete(id);
    if (value && value.notices === undefined) {
      const siblings = this.#endpointsByMerchant.get(value.merchantId);
      if (siblings) siblings.set(id, value);
      else this.#endpointsByMerchant.set(value.merchantId, new Map([[id, value]]));
    } else if (before) {
      const siblings = this.#endpointsByMerchant.get(before.merchantId);
      siblings?.delete(id);
      if (siblings?.size === 0) this.#endpointsByMerchant.delete(before.merchantId);
    }
  }

  #countSealed(keyId: string, change: 1 | -1): void {
    const count = (this.#sealedWith.get(keyId) ?? 0) + change;
    if (count > 0) this.#sealedWith.set(keyId, count);
    else this.#sealedWith.delete(keyId);
  }
}
