import type { Database } from 'better-sqlite3';
import type { DirectoryChange } from '../../../domain/directory.ts';
import type { Merchant } from '../../../domain/merchant.ts';
import { type EndpointRow, toEndpointRecord } from '../../rows/endpoint-rows.ts';
import {
  type ApiKeyRow,
  MERCHANT_COLUMNS,
  type MerchantRow,
  toApiKey,
  toMerchant,
} from '../../rows/merchant-rows.ts';
import type { ApiKey, EndpointRecord, Endpoints } from '../../store.ts';
import { SELECT_ENDPOINT } from './select-endpoint.ts';

const PAGE_MAX = 1000;

/** Reads of merchants, keys, endpoints and the outbox. */
export class ManagementReads {
  readonly #merchant;
  readonly #merchants;
  readonly #key;
  readonly #keys;
  readonly #endpoint;
  readonly #endpoints;
  readonly #outbox;
  readonly #isPending;

  constructor(db: Database) {
    this.#merchant = db.prepare(`SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = ?`);
    this.#merchants = db.prepare(`SELECT ${MERCHANT_COLUMNS} FROM merchant ORDER BY seq`);
    this.#key = db.prepare('SELECT * FROM api_key WHERE hash = ?');
    this.#keys = db.prepare('SELECT * FROM api_key ORDER BY seq');
    this.#endpoint = db.prepare(`${SELECT_ENDPOINT} AND e.uuid = ? AND e.merchant_id = ?`);
    this.#endpoints = {
      all: db.prepare(ManagementReads.listSql(false)),
      ofStatus: db.prepare(ManagementReads.listSql(true)),
    };
    this.#outbox = db.prepare(
      `SELECT outbox_id AS outboxId, change FROM outbox
       WHERE outbox_id > ? ORDER BY outbox_id LIMIT ?`,
    );
    this.#isPending = db.prepare('SELECT 1 FROM outbox WHERE outbox_id = ?');
  }

  merchant(merchantId: string): Merchant | undefined {
    const row = this.#merchant.get(merchantId) as MerchantRow | undefined;
    return row && toMerchant(row);
  }

  merchants(): Merchant[] {
    return (this.#merchants.all() as MerchantRow[]).map(toMerchant);
  }

  keyByHash(hash: Uint8Array): ApiKey | undefined {
    const row = this.#key.get(hash) as ApiKeyRow | undefined;
    return row && toApiKey(row);
  }

  keys(): ApiKey[] {
    return (this.#keys.all() as ApiKeyRow[]).map(toApiKey);
  }

  endpoint(merchantId: string, uuid: string): EndpointRecord | undefined {
    const row = this.#endpoint.get(uuid, merchantId) as EndpointRow | undefined;
    return row && toEndpointRecord(row);
  }

  /** Returns the SQL of a page; exposed so that its query plan can be checked. */
  static listSql(isOfStatus: boolean): string {
    return `${SELECT_ENDPOINT} AND e.legacy = 0 AND e.merchant_id = :merchantId
       ${isOfStatus ? 'AND e.status = :status' : ''}
       AND (e.created_at, e.uuid) < (:createdAt, :uuid)
       ORDER BY e.created_at DESC, e.uuid DESC LIMIT :limit`;
  }

  endpoints(merchantId: string, options: Parameters<Endpoints['list']>[1]): EndpointRecord[] {
    const list = options.status === undefined ? this.#endpoints.all : this.#endpoints.ofStatus;
    const rows = list.all({
      merchantId,
      ...(options.status === undefined ? {} : { status: options.status }),
      createdAt: options.after?.createdAt ?? Number.MAX_SAFE_INTEGER,
      uuid: options.after?.uuid ?? '',
      limit: Math.min(options.limit, PAGE_MAX),
    }) as EndpointRow[];
    return rows.map(toEndpointRecord);
  }

  outbox(limit: number, after: number): { readonly outboxId: number; readonly change: DirectoryChange }[] {
    const rows = this.#outbox.all(after, Math.min(limit, PAGE_MAX)) as { outboxId: number; change: string }[];
    return rows.map(({ outboxId, change }) => ({ outboxId, change: JSON.parse(change) as DirectoryChange }));
  }
  isPublished(outboxId: number): boolean {
    return this.#isPending.get(outboxId) === undefined;
  }
}
