/** Portal sessions, with which people use the console for one merchant: a part of the store port (store.ts). */
import type { Actor } from './change.ts';

/** The rights of a session: `read` changes nothing. */
export type PortalAccess = 'read' | 'write';

/**
 *     link made ──► opened ──► ended
 *         └──────────┴──► revoked
 *
 * The link opens the session once, until `linkExpiresAt`; the session then lasts until `expiresAt`.
 */
export interface PortalSession {
  /** The audit names it. */
  readonly sessionId: string;
  readonly merchantId: string;
  readonly access: PortalAccess;
  /** The person that the platform has named, with no proof. */
  readonly person: string | null;
  /** Where the platform makes the next link. */
  readonly refreshUrl: string | null;
  readonly createdAt: number;
  readonly linkExpiresAt: number;
  readonly openedAt: number | null;
  /** When it ends, milliseconds since the epoch; null until it is opened. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export interface NewPortalSession extends Omit<PortalSession, 'openedAt' | 'expiresAt' | 'revokedAt'> {
  /** SHA-256 of the link's token. */
  readonly linkHash: Uint8Array;
  /** How long the session lasts once it is opened, milliseconds. */
  readonly lifeMs: number;
}

export interface PortalSessions {
  /** Also forgets sessions that ended, or whose link expired unopened, a month before. */
  create(session: NewPortalSession, actor: Actor): Promise<void>;
  /**
   * Spends a link, once: gives its session the token with this hash. Returns undefined when there is no such link, or it
   * was spent, revoked, or has expired.
   */
  open(
    linkHash: Uint8Array,
    options: { readonly tokenHash: Uint8Array; readonly at: number },
  ): Promise<PortalSession | undefined>;
  /** Returns the session as it is now, also one that has ended. */
  findByToken(tokenHash: Uint8Array): Promise<PortalSession | undefined>;
  /** Returns the newest sessions of a merchant that are open or may be opened at this time, newest first. */
  list(
    merchantId: string,
    options: { readonly at: number; readonly limit: number },
  ): Promise<readonly PortalSession[]>;
  /** Ends one session, or all of the merchant; returns how many it ended. */
  revoke(
    sessions: { readonly merchantId: string; readonly sessionId?: string },
    options: { readonly at: number; readonly actor: Actor },
  ): Promise<number>;
}

/** Returns the author of what is done in a session. */
export function portalActor({ sessionId, person }: Pick<PortalSession, 'sessionId' | 'person'>) {
  return { kind: 'portal', sessionId, ...(person === null ? {} : { person }) } as const;
}
