import type { Database } from 'better-sqlite3';

/** Names kept in memory; others are looked up again. */
const NAMES_MAX = 100_000;

/** Merchants and endpoints as small integers, which every row of the log uses. Only the writer reads and adds them. */
export class Names {
  readonly #merchants = new Map<string, number>();
  readonly #endpoints = new Map<string, number>();
  readonly #findMerchant;
  readonly #addMerchant;
  readonly #findEndpoint;
  readonly #addEndpoint;
  readonly #endpointId;

  constructor(db: Database) {
    this.#findMerchant = db.prepare('SELECT seq FROM log_merchant WHERE merchant_id = ?').pluck();
    this.#addMerchant = db.prepare('INSERT INTO log_merchant (merchant_id) VALUES (?)');
    this.#findEndpoint = db.prepare('SELECT seq FROM log_endpoint WHERE endpoint_id = ?').pluck();
    this.#endpointId = db.prepare('SELECT endpoint_id FROM log_endpoint WHERE seq = ?').pluck();
    this.#addEndpoint = db.prepare('INSERT INTO log_endpoint (endpoint_id, merchant) VALUES (?, ?)');
  }

  findMerchant(merchantId: string): number | undefined {
    return this.#merchants.get(merchantId) ?? (this.#findMerchant.get(merchantId) as number | undefined);
  }

  merchant(merchantId: string): number {
    const known = this.#merchants.get(merchantId);
    if (known !== undefined) return known;
    const seq = this.findMerchant(merchantId) ?? Number(this.#addMerchant.run(merchantId).lastInsertRowid);
    remember(this.#merchants, merchantId, seq);
    return seq;
  }

  endpoint(endpointId: string, merchant: number): number {
    const known = this.#endpoints.get(endpointId);
    if (known !== undefined) return known;
    const found = this.#findEndpoint.get(endpointId) as number | undefined;
    const seq = found ?? Number(this.#addEndpoint.run(endpointId, merchant).lastInsertRowid);
    remember(this.#endpoints, endpointId, seq);
    return seq;
  }

  endpointId(endpoint: number): string {
    return this.#endpointId.get(endpoint) as string;
  }

  /** The transaction was rolled back: added names are not in the file. */
  forgetAll(): void {
    this.#merchants.clear();
    this.#endpoints.clear();
  }
}

function remember(names: Map<string, number>, name: string, seq: number): void {
  if (names.size >= NAMES_MAX) names.clear();
  names.set(name, seq);
}
