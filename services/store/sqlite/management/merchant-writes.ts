import type { Database } from 'better-sqlite3';
import type { Merchant } from '../../../domain/merchant.ts';
import type { Actor } from '../../change.ts';
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
import type { ApiKey, ApiKeys, Merchants } from '../../store.ts';
import type { OutboxWrites } from './outbox-writes.ts';

interface By {
  readonly at: number;
  readonly actor: Actor;
}

/** Changes of merchants and API keys. */
export class MerchantWrites {
  readonly #outbox: OutboxWrites;
  readonly #find;
  readonly #insert;
  readonly #update;
  readonly #insertKey;
  readonly #revokeKey;
  readonly #setRights;
  readonly #touchKey;
  readonly #findKey;

  constructor(db: Database, outbox: OutboxWrites) {
    this.#outbox = outbox;
    this.#find = db.prepare(`SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = ?`);
    this.#insert = db.prepare(
      `INSERT INTO merchant (merchant_id, name, state, sender_account_details, version) VALUES (?, ?,
       'active', ?, 1)`,
    );
    this.#update = db.prepare(
      `UPDATE merchant SET name = ?, state = ?, sender_account_details = ?, version = version + 1
       WHERE merchant_id = ?`,
    );
    this.#insertKey = db.prepare(
      `INSERT INTO api_key (key_id, kind, merchant_id, hash, hint, name, created_at, revoked_at, last_used_at, types,
       merchants) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#setRights = db.prepare(
      `UPDATE api_key SET types = ?, merchants = ? WHERE key_id = ? AND kind = 'producer' AND revoked_at IS NULL`,
    );
    this.#revokeKey = db.prepare('UPDATE api_key SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL');
    this.#touchKey = db.prepare(
      'UPDATE api_key SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE key_id = ?',
    );
    this.#findKey = db.prepare('SELECT * FROM api_key WHERE key_id = ?');
  }

  /** Throws when the merchant exists. */
  create(merchant: Parameters<Merchants['create']>[0], at: number, actor: Actor): Merchant {
    const { merchantId, name, senderAccountDetails } = merchant;
    if (this.#find.get(merchantId)) throw new Error(`merchant ${merchantId} exists: update it instead`);
    this.#insert.run(merchantId, name, senderAccountDetails ? 1 : 0);
    return this.#changed(merchantId, 'merchant.create', { senderAccountDetails }, { at, actor });
  }

  update(
    merchantId: string,
    change: Parameters<Merchants['update']>[1],
    at: number,
    actor: Actor,
  ): Merchant | undefined {
    const row = this.#find.get(merchantId) as MerchantRow | undefined;
    if (!row) return undefined;
    refuseUnsound(this.#outbox.seals, toMerchantChange(row));
    const before = toMerchant(row);
    const { name, state, senderAccountDetails } = { ...before, ...change };
    this.#update.run(name, state, senderAccountDetails ? 1 : 0, merchantId);
    return this.#changed(merchantId, 'merchant.update', { ...change }, { at, actor });
  }

  createKey(key: ApiKey, at: number, actor: Actor): void {
    const { keyId, kind, merchantId, hash, hint, name, createdAt, revokedAt, lastUsedAt } = key;
    this.#insertKey.run(
      keyId,
      kind,
      merchantId,
      hash,
      hint,
      name,
      Math.floor(createdAt),
      whole(revokedAt),
      whole(lastUsedAt),
      listText(key.types),
      listText(key.merchants),
    );
    this.#auditKey('api_key.create', keyId, { at, actor });
  }

  setRights(...[keyId, change, options]: Parameters<ApiKeys['setRights']>): ApiKey | undefined {
    const row = this.#findKey.get(keyId) as ApiKeyRow | undefined;
    if (!row) return undefined;
    const types = change.types === undefined ? row.types : listText(change.types);
    const merchants = change.merchants === undefined ? row.merchants : listText(change.merchants);
    if (this.#setRights.run(types, merchants, keyId).changes === 0) return undefined;
    this.#auditKey('api_key.set', keyId, options);
    return toApiKey(this.#findKey.get(keyId) as ApiKeyRow);
  }

  revokeKey(keyId: string, at: number, actor: Actor): boolean {
    if (this.#revokeKey.run(Math.floor(at), keyId).changes === 0) return false;
    this.#auditKey('api_key.revoke', keyId, { at, actor });
    return true;
  }

  touchKeys(used: ReadonlyMap<string, number>): void {
    for (const [keyId, at] of used) this.#touchKey.run(Math.floor(at), keyId);
  }

  #auditKey(action: string, keyId: string, by: By): void {
    const row = this.#findKey.get(keyId) as ApiKeyRow;
    this.#outbox.audit({ ...by, merchantId: row.merchant_id, action, details: auditedKey(row) });
  }

  #changed(merchantId: string, action: string, details: Readonly<Record<string, unknown>>, by: By): Merchant {
    const value = toMerchant(this.#find.get(merchantId) as MerchantRow);
    this.#outbox.add({ kind: 'merchant', id: merchantId, version: value.version, value });
    this.#outbox.audit({ ...by, merchantId, action, details });
    return value;
  }
}

function whole(at: number | null): number | null {
  return at === null ? null : Math.floor(at);
}
