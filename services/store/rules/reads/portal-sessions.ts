import type { PortalSessions } from '../../portal-sessions.ts';
import { PORTAL_COLUMNS, type PortalRow, toPortalSession } from '../../rows/portal-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import { PAGE_MAX } from './page.ts';

/* Reads of portal sessions. */

export async function portalSessionByToken(
  { first }: Statements,
  tokenHash: Uint8Array,
): ReturnType<PortalSessions['findByToken']> {
  const row = await first<PortalRow>(`SELECT ${PORTAL_COLUMNS} FROM portal_session WHERE token_hash = $1`, [
    Buffer.from(tokenHash),
  ]);
  return row && toPortalSession(row);
}

export async function portalSessions(
  { rows }: Statements,
  ...[merchantId, { at, limit }]: Parameters<PortalSessions['list']>
): ReturnType<PortalSessions['list']> {
  const found = await rows<PortalRow>(
    `SELECT ${PORTAL_COLUMNS} FROM portal_session WHERE merchant_id = $1 AND revoked_at IS NULL AND ends_at > $2
     ORDER BY seq DESC LIMIT $3`,
    [merchantId, Math.floor(at), Math.min(limit, PAGE_MAX)],
  );
  return found.map(toPortalSession);
}
