import type { PortalAccess, PortalSession } from '../portal-sessions.ts';

export const PORTAL_COLUMNS =
  'session_id, merchant_id, access, person, refresh_url, created_at, link_expires_at, opened_at, ends_at, revoked_at';

export interface PortalRow {
  readonly session_id: string;
  readonly merchant_id: string;
  readonly access: string;
  readonly person: string | null;
  readonly refresh_url: string | null;
  readonly created_at: number;
  readonly link_expires_at: number;
  readonly opened_at: number | null;
  /** Of the link until it is opened, then of the session. */
  readonly ends_at: number;
  readonly revoked_at: number | null;
}

export function toPortalSession(row: PortalRow): PortalSession {
  return {
    sessionId: row.session_id,
    merchantId: row.merchant_id,
    access: row.access as PortalAccess,
    person: row.person,
    refreshUrl: row.refresh_url,
    createdAt: row.created_at,
    linkExpiresAt: row.link_expires_at,
    openedAt: row.opened_at,
    expiresAt: row.opened_at === null ? null : row.ends_at,
    revokedAt: row.revoked_at,
  };
}
