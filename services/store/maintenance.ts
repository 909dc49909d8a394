/** Maintenance by operators: the part of the store port (store.ts) that merchants do not see. */
import type { SealedSecret } from '../domain/endpoint.ts';
import type { Actor } from './change.ts';

export interface AuditEntry {
  readonly at: number;
  readonly actor: Actor;
  /** The key of an `api_key` actor, as `keys list` shows it; null when it is unknown. */
  readonly key: { readonly hint: string; readonly name: string | null } | null;
  readonly merchantId: string | null;
  readonly endpointId: string | null;
  readonly action: string;
  /** Never contains a secret. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** An audit entry before it has its number. */
export interface AddedAuditEntry {
  readonly at: number;
  readonly actor: Actor;
  readonly merchantId: string | null;
  readonly endpointId?: string;
  readonly action: string;
  /** Never contains a secret. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Every change made through this store, written in the change's transaction; and what was done elsewhere. */
export interface Audit {
  /** Resolves when durable. Add it before what it reports is done. */
  add(entry: AddedAuditEntry): Promise<void>;
  /** Newest first, keyset on an opaque cursor. Rejects with CursorInvalid. */
  list(options: {
    readonly merchantId?: string;
    readonly endpointId?: string;
    /** Only the entries of one request. */
    readonly requestId?: string;
    readonly since?: number;
    readonly limit: number;
    readonly after?: string;
  }): Promise<readonly (AuditEntry & { readonly cursor: string })[]>;
}

/** A sealed value and its owner: the input of `KeyRing.open`. */
export interface SealedThing {
  /** `prepared`: the prepared secret of an endpoint. `headers`: its headers, as one text. */
  readonly kind: 'endpoint' | 'prepared' | 'headers' | 'answer';
  /** The endpoint's uuid or the response's scope: also the context that it is sealed for. */
  readonly id: string;
  readonly sealed: SealedSecret;
}

export interface Resealed extends SealedThing {
  readonly resealed: SealedSecret;
}

/** A part of the records was looked at. */
export interface RecordsSealed {
  /** Got a new seal, with a new version. */
  readonly sealed: number;
  /** `merchant:<id>` or `endpoint:<id>`: not as a process with the key ring has written them, and left as they are. */
  readonly refused: readonly string[];
  /** Where to go on; null = all were looked at. */
  readonly next: string | null;
}

/**
 * The store's values that the key ring has sealed: endpoints' secrets and headers, and stored responses; and the seals over
 * the whole record of each merchant and endpoint, deleted ones included.
 */
export interface Sealings {
  /** Returns how many endpoints and responses each key seals now; expired responses are not counted. */
  counts(
    now: number,
  ): Promise<readonly { readonly keyId: string; readonly endpoints: number; readonly answers: number }[]>;
  /** Returns the values sealed with other keys than this one, in a stable order. */
  notSealedWith(
    keyId: string,
    options: { readonly now: number; readonly limit: number; readonly after?: string },
  ): Promise<readonly (SealedThing & { readonly cursor: string })[]>;
  /**
   * Replaces values with newly sealed ones, with outbox rows and one audit entry. A value that was changed meanwhile
   * (rotated, deleted) stays as it is. Returns the number of values replaced: a prepared secret is one of its own, and so
   * are headers.
   */
  replace(
    things: readonly Resealed[],
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<{ readonly endpoints: number; readonly answers: number }>;
  /** Returns the number of records that each key seals. */
  recordCounts(): Promise<readonly { readonly keyId: string; readonly records: number }[]>;
  /**
   * Seals records anew, with outbox rows, whose seal is of another key than the active one. Those that have no seal, or do
   * not fit it, stay as they are.
   */
  sealRecords(options: { readonly limit: number; readonly after?: string }): Promise<RecordsSealed>;
}

export interface ErasureOrder {
  readonly erasureId: number;
  /** Null = every entity of the merchant. */
  readonly entityId: string | null;
  /** Null = of any merchant. */
  readonly merchantId: string | null;
}

export interface ErasureStep {
  readonly events: number;
  readonly deliveries: number;
  /** Where the next step continues; null = everything is removed. */
  readonly next: string | null;
}

/**
 * Removes the bodies of one entity's events, or of a merchant's: event data, request bodies, response bodies. An order is
 * durable: events accepted before it and recorded later are kept without bodies, and after a crash it is carried out again.
 */
export interface Erasures {
  /** Stores the order, with its audit entry. Returns its number. */
  order(
    erasure: { readonly entityId: string; readonly merchantId: string | null },
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<number>;
  /** Carries out a small part, from `after` on (undefined = the beginning). */
  step(erasureId: number, after?: string): Promise<ErasureStep>;
  /** Marks the order as finished and records in the audit what was removed. */
  finish(
    erasureId: number,
    removed: { readonly events: number; readonly deliveries: number },
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<void>;
  /**
   * Notes the order with the copies of the store that are known, so that restoring one erases the entity again. Returns a line
   * for each that still has its bodies.
   */
  noteInBackups(erasureId: number): Promise<readonly string[]>;
  /**
   * Overwrites what removed bodies and deleted rows have left behind in the store's files. Returns a line for each place where
   * something may still be, with what removes it.
   */
  purge(): Promise<readonly string[]>;
  /** Returns orders that are not finished, oldest first. */
  unfinished(): Promise<readonly ErasureOrder[]>;
  /** Returns whether what a merchant had of an entity at a time is to be erased, or is erased already. */
  isErased(of: {
    readonly entityId: string;
    readonly merchantId: string;
    readonly at: number;
  }): Promise<boolean>;
}
