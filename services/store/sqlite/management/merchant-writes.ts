import type { Database } from 'better-sqlite3';
import type { Merchant } from '../../../domain/merchant.ts';
import {
  type ApiKeyRow,
  MERCHANT_COLUMNS,
  type MerchantRow,
  toMerchant,
  toMerchantChange,
} from '../../rows/merchant-rows.ts';
import { refuseUnsound } from '../../rows/record-seals.ts';
import type { ApiKey, Merchants } from '../../store.ts';
import type { OutboxWrites } from './outbox-writes.ts';

/** Changes of merchants and API keys. The audit names the operator as their actor. */
export class MerchantWrites {
  readonly #outbox: OutboxWrites;
  readonly #find;
  readonly #insert;
  readonly #update;
  readonly #insertKey;
  readonly #revokeKey;
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
      `INSERT INTO api_key (key_id, kind, merchant_id, hash, hint, name, created_at, revoked_at, last_used_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#revokeKey = db.prepare('UPDATE api_key SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL');
    this.#touchKey = db.prepare(
      'UPDATE api_key SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE key_id = ?',
    );
    this.#findKey = db.prepare('SELECT * FROM api_key WHERE key_id = ?');
  }

  /** Throws when the merchant exists. */
  create(merchant: Parameters<Merchants['create']>[0], at: number): Merchant {
    const { merchantId, name, senderAccountDetails } = merchant;
    if (this.#find.get(merchantId)) throw new Error(`merchant ${merchantId} exists: update it instead`);
    this.#insert.run(merchantId, name, senderAccountDetails ? 1 : 0);
    return this.#changed(merchantId, 'merchant.create', { senderAccountDetails }, at);
  }

  update(merchantId: string, change: Parameters<Merchants['update']>[1], at: number): Merchant | undefined {
    const row = this.#find.get(merchantId) as MerchantRow | undefined;
    if (!row) return undefined;
    refuseUnsound(this.#outbox.seals, toMerchantChange(row));
    const before = toMerchant(row);
    const { name, state, senderAccountDetails } = { ...before, ...change };
    this.#update.run(name, state, senderAccountDetails ? 1 : 0, merchantId);
    return this.#changed(merchantId, 'merchant.update', { ...change }, at);
  }

  createKey(key: ApiKey, at: number): void {
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
    );
    this.#auditKey('api_key.create', keyId, at);
  }

  revokeKey(keyId: string, at: number): boolean {
    if (this.#revokeKey.run(Math.floor(at), keyId).changes === 0) return false;
    this.#auditKey('api_key.revoke', keyId, at);
    return true;
  }

  touchKeys(used: ReadonlyMap<string, number>): void {
    for (const [keyId, at] of used) this.#touchKey.run(Math.floor(at), keyId);
  }

  #auditKey(action: string, keyId: string, at: number): void {
    const { merchant_id: merchantId, hint, name } = this.#findKey.get(keyId) as ApiKeyRow;
    const details = { keyId, hint, name };
    this.#outbox.audit({ at, actor: { kind: 'operator' }, merchantId, action, details });
  }

  #changed(
    merchantId: string,
    action: string,
    details: Readonly<Record<string, unknown>>,
    at: number,
  ): Merchant {
    const value = toMerchant(this.#find.get(merchantId) as MerchantRow);
    this.#outbox.add({ kind: 'merchant', id: merchantId, version: value.version, value });
    this.#outbox.audit({ at, actor: { kind: 'operator' }, merchantId, action, details });
    return value;
  }
}

function whole(at: number | null): number | null {
  return at === null ? null : Math.floor(at);
}
