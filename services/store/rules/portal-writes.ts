import type { Actor } from '../change.ts';
import { type PortalSession, type PortalSessions, portalActor } from '../portal-sessions.ts';
import { PORTAL_COLUMNS, type PortalRow, toPortalSession } from '../rows/portal-rows.ts';
import type { Transaction } from '../sql/transaction.ts';
import { lockOpenMerchant } from './open-merchant.ts';
import { addToAudit } from './outbox-writes.ts';

/* Changes of portal sessions. */

/** How long an ended session is kept: the page can say that it has ended, and whose it was. */
const KEPT_MS = 30 * 86_400_000;

export async function createPortalSession(
  tx: Transaction,
  ...[session, actor]: Parameters<PortalSessions['create']>
): Promise<void> {
  const { sessionId, merchantId, access, person, refreshUrl, createdAt, linkExpiresAt } = session;
  const at = Math.floor(createdAt);
  await lockOpenMerchant(tx, merchantId);
  await tx.change('DELETE FROM portal_session WHERE ends_at < $1', [at - KEPT_MS]);
  await tx.change(
    `INSERT INTO portal_session (session_id, merchant_id, link_hash, access, person, refresh_url, life_ms, created_at,
     link_expires_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
    [
      sessionId,
      merchantId,
      Buffer.from(session.linkHash),
      access,
      person,
      refreshUrl,
      Math.floor(session.lifeMs),
      at,
      Math.floor(linkExpiresAt),
    ],
  );
  await audit(tx, 'portal_session.create', session, { at, actor });
}

/** Spends a link. Two requests at once: one of them finds the row, the other none. */
export async function openPortalSession(
  tx: Transaction,
  ...[linkHash, { tokenHash, at }]: Parameters<PortalSessions['open']>
): Promise<PortalSession | undefined> {
  const row = await tx.first<PortalRow>(
    `UPDATE portal_session SET opened_at = $2, token_hash = $3, ends_at = $2 + life_ms
     WHERE link_hash = $1 AND opened_at IS NULL AND revoked_at IS NULL AND link_expires_at > $2
     RETURNING ${PORTAL_COLUMNS}`,
    [Buffer.from(linkHash), Math.floor(at), Buffer.from(tokenHash)],
  );
  if (!row) return undefined;
  const session = toPortalSession(row);
  await audit(tx, 'portal_session.open', session, { at, actor: portalActor(session) });
  return session;
}

/** Returns how many sessions were ended: those that have ended by themselves are not among them. */
export async function revokePortalSessions(
  tx: Transaction,
  ...[{ merchantId, sessionId }, { at, actor }]: Parameters<PortalSessions['revoke']>
): Promise<number> {
  const ended = await tx.rows<PortalRow>(
    `UPDATE portal_session SET revoked_at = $2
     WHERE merchant_id = $1 AND revoked_at IS NULL AND ends_at > $2 AND session_id = coalesce($3, session_id)
     RETURNING ${PORTAL_COLUMNS}`,
    [merchantId, Math.floor(at), sessionId ?? null],
  );
  for (const row of ended) await audit(tx, 'portal_session.revoke', toPortalSession(row), { at, actor });
  return ended.length;
}

async function audit(
  tx: Transaction,
  action: string,
  {
    merchantId,
    sessionId,
    access,
    person,
  }: Pick<PortalSession, 'merchantId' | 'sessionId' | 'access' | 'person'>,
  by: { readonly at: number; readonly actor: Actor },
): Promise<void> {
  await addToAudit(tx, { ...by, merchantId, action, details: { sessionId, access, person } });
}
