/** The author of a change: the id of the API key, a session of the console, or the operator. */
export type Actor =
  | {
      readonly kind: 'api_key';
      readonly keyId: string;
      /** The person for whom the platform's backend asks, as it says. */
      readonly person?: string;
      /** The request that asked for it, as its answer names it. */
      readonly requestId?: string;
    }
  | {
      readonly kind: 'portal';
      readonly sessionId: string;
      /** The person that the platform has named, with no proof. */
      readonly person?: string;
      readonly requestId?: string;
    }
  | { readonly kind: 'operator' /** The name that was given, with no proof. */; readonly person?: string }
  | { readonly kind: 'system' };
/** A response stored for an Idempotency-Key, in the same transaction as the change that it reports. */
export interface AnswerToStore {
  /** Key id and Idempotency-Key, as one string. */
  readonly scope: string;
  /** Of the claim (StoredAnswers.claim). The change rejects with StoreConflict when the scope has another claim by now. */
  readonly token: string;
  readonly requestHash: string;
  readonly status: number;
  /** The response's body, sealed by the key ring (JSON of the created object, for `scope`): it contains the secret. */
  readonly sealed: string;
  readonly expiresAt: number;
}
export type Changed<T> = {
  readonly kind: 'ok';
  readonly record: T;
  /** Await it with PublishedChanges.published. */
  readonly outboxId: number;
};
/** The cursor was not issued by this store's list: a caller's mistake. */
export class CursorInvalid extends Error {
  override readonly name = 'CursorInvalid';
}
/** The request's claim has ended, and another request may have taken it: nothing of the change was kept. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict';
}
/** The merchant was closed while something was added to it: nothing of the change was kept. */
export class MerchantClosed extends Error {
  override readonly name = 'MerchantClosed';
}
/** The stored record does not fit its seal, or has none where each must have one: nothing of the change was kept. */
export class RecordRefused extends Error {
  override readonly name = 'RecordRefused';
}

/** An operator whose name is not known. */
export const OPERATOR: Actor = { kind: 'operator' };

/**
 * Returns the name of an operator, of the person in the console, or of the one for whom the platform asks; null when it is
 * not known.
 */
export function personOf(actor: Actor): string | null {
  return actor.kind === 'system' ? null : (actor.person ?? null);
}

/** Returns the id of the API request that asked for a change; null when there was none, or it is not known. */
export function requestOf(actor: Actor): string | null {
  return actor.kind === 'api_key' || actor.kind === 'portal' ? (actor.requestId ?? null) : null;
}
