import type { DirectoryChange } from '../../domain/directory.ts';
import { personOf, requestOf } from '../change.ts';
import type { AddedAuditEntry } from '../maintenance.ts';
import { actorText } from '../rows/audit-rows.ts';
import { requiredSeals, sealValues } from '../rows/record-seals.ts';
import type { Transaction } from '../sql/transaction.ts';

/* The rows that accompany every change of an endpoint or merchant, in its transaction: the outbox row and the audit entry. */

/**
 * Seals the row of a directory change, which was written before, and adds the change. Returns the outbox id. Throws
 * RecordRefused when this process has no key ring. The
 * transaction holds the lock of the merchant's or endpoint's row by now, so that the ids of one key ascend in the order
 * of the commits.
 */
export async function addToOutbox(tx: Transaction, change: DirectoryChange): Promise<number> {
  const sealed = requiredSeals(tx.seals).sealed(change);
  await writeSeal(tx, sealed);
  return addSealedToOutbox(tx, sealed);
}

/**
 * Adds a directory change with the seal that it has, as `addToOutbox` does. `isKnown`: it is in force in the store already,
 * and is added again.
 */
export async function addSealedToOutbox(
  tx: Transaction,
  change: DirectoryChange,
  isKnown = false,
): Promise<number> {
  const outboxId = await tx.addToOutbox(JSON.stringify(change), isKnown);
  tx.added('outbox');
  return outboxId;
}

/** Writes the seal of a change into its row. */
export async function writeSeal(tx: Transaction, { kind, id, seal }: DirectoryChange): Promise<void> {
  await tx.change(WRITE_SEAL[kind], [id, ...sealValues(seal)]);
}

const WRITE_SEAL: Readonly<Record<DirectoryChange['kind'], string>> = {
  merchant: 'UPDATE merchant SET seal_key_id = $2, seal_version = $3, seal_mac = $4 WHERE merchant_id = $1',
  endpoint: 'UPDATE endpoint SET seal_key_id = $2, seal_version = $3, seal_mac = $4 WHERE uuid = $1',
};

/** Forgets changes that are on the DIRECTORY stream. */
export async function forgetPublished(
  { dialect, change }: Transaction,
  outboxIds: readonly number[],
): Promise<void> {
  if (outboxIds.length === 0) return;
  const isOne = dialect.among('outbox_id', '$1', 'bigint');
  await change(`DELETE FROM outbox WHERE ${isOne}`, [dialect.list(outboxIds)]);
}

/** Adds an audit entry, and for a change of an endpoint what the feed reports of it. */
export async function addToAudit(tx: Transaction, entry: AddedAuditEntry): Promise<void> {
  const { at, actor, merchantId, endpointId = null, action, details } = entry;
  const row = await tx.first<{ readonly audit_id: number }>(
    `INSERT INTO audit (at, actor, person, request_id, merchant_id, endpoint_uuid, action, details)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING audit_id`,
    [
      Math.floor(at),
      actorText(actor),
      personOf(actor),
      requestOf(actor),
      merchantId,
      endpointId,
      action,
      JSON.stringify(details),
    ],
  );
  if (row && merchantId !== null && endpointId !== null && action.startsWith('endpoint.'))
    tx.reportEndpoint(merchantId, row.audit_id, at);
}
