import type { DirectoryChange } from '../../../domain/directory.ts';
import type { Actor } from '../../change.ts';
import { FEED_KIND } from '../../log/log-rows.ts';
import { actorText } from '../../rows/audit-rows.ts';
import type { Transaction } from '../client/statements.ts';

/**
 * Adds a directory change, within the transaction that made it. Returns the outbox id. The transaction holds the lock of
 * the merchant's or endpoint's row by now, so that the ids of one key ascend in the order of the commits.
 */
export async function addToOutbox(tx: Transaction, change: DirectoryChange): Promise<number> {
  const row = await tx.first<{ readonly outbox_id: number }>(
    'INSERT INTO outbox (change) VALUES ($1) RETURNING outbox_id',
    [JSON.stringify(change)],
  );
  if (!row) throw new Error('the outbox returned no id');
  tx.added('outbox');
  return row.outbox_id;
}

/** Adds an audit entry, and for a change of an endpoint what the feed reports of it. `details` must not contain a secret. */
export async function addToAudit(
  tx: Transaction,
  entry: {
    readonly at: number;
    readonly actor: Actor;
    readonly merchantId: string | null;
    readonly endpointId?: string;
    readonly action: string;
    readonly details: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  const { at, actor, merchantId, endpointId = null, action, details } = entry;
  const row = await tx.first<{ readonly audit_id: number }>(
    `INSERT INTO audit (at, actor, merchant_id, endpoint_uuid, action, details) VALUES ($1, $2, $3, $4, $5, $6)
     RETURNING audit_id`,
    [Math.floor(at), actorText(actor), merchantId, endpointId, action, JSON.stringify(details)],
  );
  if (row && merchantId !== null && endpointId !== null && action.startsWith('endpoint.'))
    tx.feed.push({ merchantId, kind: FEED_KIND.endpoint, at, ref: row.audit_id });
}
