import type { DirectoryChange } from '../../../domain/directory.ts';
import { personOf } from '../../change.ts';
import { FEED_KIND } from '../../log/log-rows.ts';
import type { AddedAuditEntry } from '../../maintenance.ts';
import { actorText } from '../../rows/audit-rows.ts';
import { resealed, type SealColumns, sealOf, sealValues } from '../../rows/record-seals.ts';
import { StoreUnavailable } from '../../store.ts';
import type { Transaction } from '../client/statements.ts';
import { readTimeline, TIMELINE } from '../client/timeline.ts';

/**
 * Seals the row of a directory change, and adds the change, within the transaction that made it. Returns the outbox id. The transaction holds the lock of
 * the merchant's or endpoint's row by now, so that the ids of one key ascend in the order of the commits.
 *
 * Throws StoreUnavailable on a timeline that was not reconciled yet: the version of a lost change would be given again.
 */
export async function addToOutbox(tx: Transaction, change: DirectoryChange): Promise<number> {
  const before = await tx.first<SealColumns>(SEAL_OF[change.kind], [change.id]);
  const sealed = resealed(tx.seals, change, before ? sealOf(before) : {});
  await writeSeal(tx, sealed);
  return addSealedToOutbox(tx, sealed);
}

/** Writes the seal of a change into its row. */
export async function writeSeal(tx: Transaction, { kind, id, seal }: DirectoryChange): Promise<void> {
  await tx.change(WRITE_SEAL[kind], [id, ...sealValues(seal)]);
}

const SEAL_OF: Readonly<Record<DirectoryChange['kind'], string>> = {
  merchant: 'SELECT seal_key_id, seal_version, seal_mac FROM merchant WHERE merchant_id = $1',
  endpoint: 'SELECT seal_key_id, seal_version, seal_mac FROM endpoint WHERE uuid = $1',
};

const WRITE_SEAL: Readonly<Record<DirectoryChange['kind'], string>> = {
  merchant: 'UPDATE merchant SET seal_key_id = $2, seal_version = $3, seal_mac = $4 WHERE merchant_id = $1',
  endpoint: 'UPDATE endpoint SET seal_key_id = $2, seal_version = $3, seal_mac = $4 WHERE uuid = $1',
};

/** Adds a directory change with the seal that it has, as `addToOutbox` does. */
export async function addSealedToOutbox(tx: Transaction, change: DirectoryChange): Promise<number> {
  const row = await tx.first<{ readonly timeline: string; readonly outbox_id: number | null }>(ADD_FENCED, [
    JSON.stringify(change),
  ]);
  if (!row) throw new Error('the outbox returned no row');
  tx.sawTimeline(row.timeline);
  if (row.outbox_id === null) throw notReconciled(row.timeline);
  tx.added('outbox');
  return row.outbox_id;
}

const ADD_FENCED = `WITH server AS (SELECT ${TIMELINE} AS timeline), added AS (
    INSERT INTO outbox (change) SELECT $1 FROM server JOIN meta ON meta.value = server.timeline
    WHERE meta.name = 'timeline' RETURNING outbox_id)
  SELECT server.timeline, added.outbox_id FROM server LEFT JOIN added ON TRUE`;

function notReconciled(timeline: string): StoreUnavailable {
  const what = `PostgreSQL was failed over or restored (timeline ${timeline}): changes are refused until the process with the lease "api" has reconciled the store with the directory stream`;
  return new StoreUnavailable(what, { state: 'reconciling' });
}

/** Throws StoreUnavailable on a timeline that was not reconciled yet. */
export async function requireReconciled(tx: Transaction): Promise<void> {
  const { name, isReconciled } = await readTimeline(tx);
  if (!isReconciled) throw notReconciled(name);
}

/** Adds a change again that is in force in the store, whether the timeline was reconciled or not. */
export async function addAgainToOutbox(tx: Transaction, change: DirectoryChange): Promise<void> {
  await tx.change('INSERT INTO outbox (change) VALUES ($1)', [JSON.stringify(change)]);
  tx.added('outbox');
}

/** Adds an audit entry, and for a change of an endpoint what the feed reports of it. */
export async function addToAudit(tx: Transaction, entry: AddedAuditEntry): Promise<void> {
  const { at, actor, merchantId, endpointId = null, action, details } = entry;
  const row = await tx.first<{ readonly audit_id: number }>(
    `INSERT INTO audit (at, actor, person, merchant_id, endpoint_uuid, action, details)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING audit_id`,
    [
      Math.floor(at),
      actorText(actor),
      personOf(actor),
      merchantId,
      endpointId,
      action,
      JSON.stringify(details),
    ],
  );
  if (row && merchantId !== null && endpointId !== null && action.startsWith('endpoint.'))
    tx.feed.push({ merchantId, kind: FEED_KIND.endpoint, at, ref: row.audit_id });
}
