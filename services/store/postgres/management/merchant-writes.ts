import type { Merchant } from '../../../domain/merchant.ts';
import type { Actor } from '../../change.ts';
import type { ApiKey, ApiKeys, Merchants } from '../../merchants.ts';
import {
  type ApiKeyRow,
  auditedKey,
  listText,
  MERCHANT_COLUMNS,
  type MerchantRow,
  toApiKey,
  toMerchant,
  toMerchantChange,
} from '../../rows/merchant-rows.ts';
import { refuseUnsound } from '../../rows/record-seals.ts';
import type { Transaction } from '../client/statements.ts';
import { addToAudit, addToOutbox } from './outbox-writes.ts';

/* Changes of merchants and API keys. */

interface By {
  readonly at: number;
  readonly actor: Actor;
}

/** Throws when the merchant exists. */
export async function createMerchant(
  tx: Transaction,
  { merchantId, name, senderAccountDetails }: Parameters<Merchants['create']>[0],
  by: By,
): Promise<Merchant> {
  const created = await tx.first<MerchantRow>(
    `INSERT INTO merchant (merchant_id, name, state, sender_account_details, version)
     VALUES ($1, $2, 'active', $3, next_version(0)) ON CONFLICT DO NOTHING RETURNING ${MERCHANT_COLUMNS}`,
    [merchantId, name, senderAccountDetails ? 1 : 0],
  );
  if (!created) throw new Error(`merchant ${merchantId} exists: update it instead`);
  return changed(tx, created, 'merchant.create', { senderAccountDetails }, by);
}

export async function updateMerchant(
  tx: Transaction,
  merchantId: string,
  change: Parameters<Merchants['update']>[1],
  by: By,
): Promise<Merchant | undefined> {
  const { name, state, senderAccountDetails } = change;
  const stored = await tx.first<MerchantRow>(
    `SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = $1 FOR UPDATE`,
    [merchantId],
  );
  if (!stored) return undefined;
  refuseUnsound(tx.seals, toMerchantChange(stored));
  const updated = await tx.first<MerchantRow>(
    `UPDATE merchant SET name = coalesce($2, name), state = coalesce($3, state),
     sender_account_details = coalesce($4, sender_account_details), version = next_version(version)
     WHERE merchant_id = $1 RETURNING ${MERCHANT_COLUMNS}`,
    [merchantId, name, state, senderAccountDetails === undefined ? undefined : senderAccountDetails ? 1 : 0],
  );
  return updated && changed(tx, updated, 'merchant.update', { ...change }, by);
}

export async function createKey(tx: Transaction, key: ApiKey, by: By): Promise<void> {
  const { keyId, kind, merchantId, hash, hint, name, createdAt, revokedAt, lastUsedAt } = key;
  const row = await tx.first<ApiKeyRow>(
    `INSERT INTO api_key (key_id, kind, merchant_id, hash, hint, name, created_at, revoked_at, last_used_at, types,
     merchants) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING *`,
    [
      keyId,
      kind,
      merchantId,
      Buffer.from(hash),
      hint,
      name,
      Math.floor(createdAt),
      whole(revokedAt),
      whole(lastUsedAt),
      listText(key.types),
      listText(key.merchants),
    ],
  );
  if (row) await auditKey(tx, 'api_key.create', row, by);
}

/** Returns false when there is no such key, or it was already revoked. */
export async function revokeKey(tx: Transaction, keyId: string, by: By): Promise<boolean> {
  const row = await tx.first<ApiKeyRow>(
    'UPDATE api_key SET revoked_at = $2 WHERE key_id = $1 AND revoked_at IS NULL RETURNING *',
    [keyId, Math.floor(by.at)],
  );
  if (!row) return false;
  await auditKey(tx, 'api_key.revoke', row, by);
  return true;
}

/** Replaces the lists of a producer's key. Returns undefined when there is no such key in use. */
export async function setKeyRights(
  tx: Transaction,
  ...[keyId, { types, merchants }, by]: Parameters<ApiKeys['setRights']>
): Promise<ApiKey | undefined> {
  const row = await tx.first<ApiKeyRow>(
    `UPDATE api_key SET types = CASE WHEN $2 THEN $3 ELSE types END,
     merchants = CASE WHEN $4 THEN $5 ELSE merchants END
     WHERE key_id = $1 AND kind = 'producer' AND revoked_at IS NULL RETURNING *`,
    [keyId, types !== undefined, listText(types), merchants !== undefined, listText(merchants)],
  );
  if (!row) return undefined;
  await auditKey(tx, 'api_key.set', row, by);
  return toApiKey(row);
}

/** Notes when keys were last used. In one order: two processes that do so wait for each other, and no more. */
export async function touchKeys(tx: Transaction, used: ReadonlyMap<string, number>): Promise<void> {
  const entries = [...used].sort(([one], [other]) => (one < other ? -1 : 1));
  await tx.change(
    `WITH used AS (
       SELECT k.seq, u.at FROM api_key k JOIN unnest($1::text[], $2::bigint[]) AS u (key_id, at) USING (key_id)
       ORDER BY k.key_id FOR UPDATE OF k
     )
     UPDATE api_key SET last_used_at = greatest(last_used_at, used.at) FROM used WHERE api_key.seq = used.seq`,
    [entries.map(([keyId]) => keyId), entries.map(([, at]) => Math.floor(at))],
  );
}

async function auditKey(tx: Transaction, action: string, row: ApiKeyRow, by: By): Promise<void> {
  await addToAudit(tx, { ...by, merchantId: row.merchant_id, action, details: auditedKey(row) });
}

async function changed(
  tx: Transaction,
  row: MerchantRow,
  action: string,
  details: Readonly<Record<string, unknown>>,
  by: By,
): Promise<Merchant> {
  const value = toMerchant(row);
  const { merchantId, version } = value;
  await addToOutbox(tx, { kind: 'merchant', id: merchantId, version, value });
  await addToAudit(tx, { ...by, merchantId, action, details });
  return value;
}

function whole(at: number | null): number | null {
  return at === null ? null : Math.floor(at);
}
