/** What operators keep in order: the part of the store port (store.ts) that merchants do not see. */
import type { SealedSecret } from '../domain/endpoint.ts';
import type { Actor } from './store.ts';

export interface AuditEntry {
  readonly at: number;
  readonly actor: Actor;
  /** The key of an `api_key` actor, as `keys list` shows it; null when it is not known. */
  readonly key: { readonly hint: string; readonly name: string | null } | null;
  readonly merchantId: string | null;
  readonly endpointId: string | null;
  readonly action: string;
  /** Never holds a secret. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Every change that was made through this store, written in its transaction. */
export interface Audit {
  /** Newest first, keyset on an opaque cursor. Rejects with CursorInvalid. */
  list(options: {
    readonly merchantId?: string;
    readonly endpointId?: string;
    readonly since?: number;
    readonly limit: number;
    readonly after?: string;
  }): Promise<readonly (AuditEntry & { readonly cursor: string })[]>;
}

/** Something that the key ring has sealed, and for whom: what `KeyRing.open` takes. */
export interface SealedThing {
  readonly kind: 'endpoint' | 'answer';
  /** The endpoint's uuid or the answer's scope: also the context that it is sealed for. */
  readonly id: string;
  readonly sealed: SealedSecret;
}

export interface Resealed extends SealedThing {
  readonly resealed: SealedSecret;
}

/** What lies here sealed by the key ring: endpoints' secrets and stored answers. */
export interface Sealings {
  /** How much each key seals now; expired answers are not counted. */
  counts(
    now: number,
  ): Promise<readonly { readonly keyId: string; readonly endpoints: number; readonly answers: number }[]>;
  /** What other keys than this one seal, in a stable order. */
  notSealedWith(
    keyId: string,
    options: { readonly now: number; readonly limit: number; readonly after?: string },
  ): Promise<readonly (SealedThing & { readonly cursor: string })[]>;
  /**
   * Puts what was sealed anew in the place of what it was made of, with outbox rows and one audit entry. What was changed
   * meanwhile (rotated, deleted) stays as it is. Answers how many were replaced.
   */
  replace(
    things: readonly Resealed[],
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<{ readonly endpoints: number; readonly answers: number }>;
}

export interface ErasureOrder {
  readonly erasureId: number;
  readonly entityId: string;
  /** Null = of whichever merchant. */
  readonly merchantId: string | null;
}

export interface ErasureStep {
  readonly events: number;
  readonly deliveries: number;
  /** Where the next step goes on; null = all of it is gone. */
  readonly next: string | null;
}

/**
 * Removes the bodies of one entity's events: event data, request bodies, response bodies kept. An order is durable: what
 * was accepted before it and is recorded later is kept without bodies, and after a crash it is carried out again.
 */
export interface Erasures {
  /** Notes the order, with its audit entry. Answers its number. */
  order(
    erasure: Omit<ErasureOrder, 'erasureId'>,
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<number>;
  /** Carries out a small part, from `after` on (undefined = the beginning). */
  step(erasureId: number, after?: string): Promise<ErasureStep>;
  /** Every step was done; noted in the audit with what went. */
  finish(
    erasureId: number,
    removed: { readonly events: number; readonly deliveries: number },
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<void>;
  /** Orders that were not finished, oldest first. */
  unfinished(): Promise<readonly ErasureOrder[]>;
}
