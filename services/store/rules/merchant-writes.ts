import type { Merchant } from '../../domain/merchant.ts';
import { type Actor, type AnswerToStore, OPERATOR } from '../change.ts';
import type { ApiKey, ApiKeys, Merchants } from '../merchants.ts';
import {
  type ApiKeyRow,
  auditedKey,
  listText,
  MERCHANT_COLUMNS,
  type MerchantRow,
  toApiKey,
  toMerchant,
  toMerchantChange,
} from '../rows/merchant-rows.ts';
import { refuseUnsound } from '../rows/record-seals.ts';
import type { Transaction } from '../sql/transaction.ts';
import { NO_OUTBOX_ROW, storeAnswer } from './answer-writes.ts';
import { removeEndpoint } from './endpoint-writes.ts';
import { orderMerchantErasure } from './erasure-writes.ts';
import { lockOpenMerchant } from './open-merchant.ts';
import { addToAudit, addToOutbox } from './outbox-writes.ts';
import { revokePortalSessions } from './portal-writes.ts';
import { finishReplay } from './replay-writes.ts';

/* Changes of merchants and API keys. */

interface By {
  readonly at: number;
  readonly actor: Actor;
}

/** Throws when the merchant exists. */
export async function createMerchant(
  tx: Transaction,
  { merchantId, name, senderAccountDetails }: Parameters<Merchants['create']>[0],
  actor: Actor = OPERATOR,
  answer?: AnswerToStore,
): Promise<Merchant> {
  const created = await tx.first<MerchantRow>(
    `INSERT INTO merchant (merchant_id, name, state, sender_account_details, version)
     VALUES ($1, $2, 'active', $3, ${tx.dialect.nextVersion('0')}) ON CONFLICT DO NOTHING RETURNING ${MERCHANT_COLUMNS}`,
    [merchantId, name, senderAccountDetails ? 1 : 0],
  );
  if (!created) throw new Error(`merchant ${merchantId} exists: update it instead`);
  const { merchant, outboxId } = await changed(tx, created, {
    ...{ action: 'merchant.create', details: { senderAccountDetails } },
    ...{ at: tx.at, actor },
  });
  if (answer) await storeAnswer(tx, answer, outboxId, tx.at);
  return merchant;
}

export async function updateMerchant(
  tx: Transaction,
  merchantId: string,
  change: Parameters<Merchants['update']>[1],
  { actor = OPERATOR, reason }: NonNullable<Parameters<Merchants['update']>[2]> = {},
): Promise<Merchant | undefined> {
  const { name, state, senderAccountDetails } = change;
  const stored = await tx.first<MerchantRow>(
    `SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = $1 ${tx.dialect.forUpdate()}`,
    [merchantId],
  );
  if (!stored) return undefined;
  if (stored.state === 'closed') return toMerchant(stored);
  refuseUnsound(tx.seals, toMerchantChange(stored));
  const updated = await tx.first<MerchantRow>(
    `UPDATE merchant SET name = coalesce($2, name), state = coalesce($3, state),
     sender_account_details = coalesce($4, sender_account_details), version = ${tx.dialect.nextVersion('version')}
     WHERE merchant_id = $1 RETURNING ${MERCHANT_COLUMNS}`,
    [merchantId, name, state, senderAccountDetails === undefined ? undefined : senderAccountDetails ? 1 : 0],
  );
  const details = { ...change, ...(reason === undefined ? {} : { reason }) };
  if (!updated) return undefined;
  return (await changed(tx, updated, { action: 'merchant.update', details, at: tx.at, actor })).merchant;
}

export async function closeMerchant(
  tx: Transaction,
  ...[merchantId, { reason, erase = false, ...by }]: Parameters<Merchants['close']>
): Promise<Merchant | undefined> {
  // Before its row, in the order of a change of an endpoint.
  await tx.lockMerchant(merchantId);
  const stored = await tx.first<MerchantRow>(
    `SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = $1 ${tx.dialect.forUpdate()}`,
    [merchantId],
  );
  if (!stored) return undefined;
  if (erase) await orderMerchantErasure(tx, merchantId, by);
  if (stored.state === 'closed') return toMerchant(stored);
  refuseUnsound(tx.seals, toMerchantChange(stored));
  const keys = await tx.rows<ApiKeyRow>(
    'UPDATE api_key SET revoked_at = $2 WHERE merchant_id = $1 AND revoked_at IS NULL RETURNING *',
    [merchantId, Math.floor(by.at)],
  );
  for (const key of keys) await auditKey(tx, 'api_key.revoke', key, by);
  await revokePortalSessions(tx, { merchantId }, by);
  const replays = await tx.rows<{ readonly replay_id: string }>(
    "SELECT replay_id FROM replay WHERE merchant_id = $1 AND status = 'running'",
    [merchantId],
  );
  const cancelled = { status: 'cancelled', reason: 'merchant_closed', ...by } as const;
  for (const { replay_id } of replays) await finishReplay(tx, replay_id, cancelled);
  const endpoints = await tx.rows<{ readonly uuid: string }>(
    'SELECT uuid FROM endpoint WHERE merchant_id = $1 AND deleted_at IS NULL ORDER BY seq',
    [merchantId],
  );
  for (const { uuid } of endpoints) await removeEndpoint(tx, merchantId, uuid, by);
  const closed = await tx.first<MerchantRow>(
    `UPDATE merchant SET state = 'closed', version = ${tx.dialect.nextVersion('version')}
     WHERE merchant_id = $1 RETURNING ${MERCHANT_COLUMNS}`,
    [merchantId],
  );
  const details = {
    keys: keys.length,
    endpoints: endpoints.length,
    ...(reason === undefined ? {} : { reason }),
  };
  return closed && (await changed(tx, closed, { action: 'merchant.close', details, ...by })).merchant;
}

export async function createKey(
  tx: Transaction,
  key: ApiKey,
  actor: Actor = OPERATOR,
  answer?: AnswerToStore,
): Promise<void> {
  const { keyId, kind, merchantId, hash, hint, name, createdAt, revokedAt, lastUsedAt } = key;
  if (merchantId !== null) await lockOpenMerchant(tx, merchantId);
  const row = await tx.first<ApiKeyRow>(
    `INSERT INTO api_key (key_id, kind, merchant_id, hash, hint, name, created_at, revoked_at, last_used_at, types,
     merchants, scopes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING *`,
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
      listText(key.scopes),
    ],
  );
  if (row) await auditKey(tx, 'api_key.create', row, { at: tx.at, actor });
  if (answer) await storeAnswer(tx, answer, NO_OUTBOX_ROW, tx.at);
}

/** Returns false when there is no such key, or it was already revoked. */
export async function revokeKey(
  tx: Transaction,
  keyId: string,
  at: number,
  actor: Actor = OPERATOR,
): Promise<boolean> {
  const row = await tx.first<ApiKeyRow>(
    'UPDATE api_key SET revoked_at = $2 WHERE key_id = $1 AND revoked_at IS NULL RETURNING *',
    [keyId, Math.floor(at)],
  );
  if (!row) return false;
  await auditKey(tx, 'api_key.revoke', row, { at, actor });
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

async function auditKey(tx: Transaction, action: string, row: ApiKeyRow, by: By): Promise<void> {
  await addToAudit(tx, { ...by, merchantId: row.merchant_id, action, details: auditedKey(row) });
}

async function changed(
  tx: Transaction,
  row: MerchantRow,
  entry: By & { readonly action: string; readonly details: Readonly<Record<string, unknown>> },
): Promise<{ readonly merchant: Merchant; readonly outboxId: number }> {
  const merchant = toMerchant(row);
  const { merchantId, version } = merchant;
  const outboxId = await addToOutbox(tx, { kind: 'merchant', id: merchantId, version, value: merchant });
  const { at, actor, action, details } = entry;
  await addToAudit(tx, { at, actor, merchantId, action, details });
  return { merchant, outboxId };
}

function whole(at: number | null): number | null {
  return at === null ? null : Math.floor(at);
}
