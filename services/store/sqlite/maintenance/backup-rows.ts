import type { Database } from 'better-sqlite3';

/** A copy of the store. */
export interface BackupRow {
  /** Its whole path. */
  readonly file: string;
  /** Milliseconds since the epoch: what came later is not in it. */
  readonly takenAt: number;
}

/** An order to erase an entity, in the form in which a backup's manifest has it. */
export interface ErasedEntity {
  /** Null = every entity of the merchant. */
  readonly entityId: string | null;
  /** Null = of any merchant. */
  readonly merchantId: string | null;
  /** Milliseconds since the epoch: events accepted before are covered. */
  readonly acceptedBefore: number;
}

/** The copies of the store that were made. */
export class BackupRows {
  readonly #insert;

  constructor(db: Database) {
    this.#insert = db.prepare('INSERT INTO backup (file, taken_at) VALUES (?, ?)');
  }

  add(file: string, takenAt: number): void {
    this.#insert.run(file, Math.floor(takenAt));
  }
}

/** Reads what an erasure tells of backups. */
export class BackupReads {
  readonly #all;
  readonly #orders;
  readonly #order;

  constructor(db: Database) {
    this.#all = db.prepare('SELECT file, taken_at AS takenAt FROM backup ORDER BY backup_id');
    const orders = `SELECT erasure.entity_id AS entityId, m.merchant_id AS merchantId,
      erasure.accepted_before AS acceptedBefore FROM erasure LEFT JOIN log_merchant m ON m.seq = erasure.merchant`;
    this.#orders = db.prepare(orders);
    this.#order = db.prepare(`${orders} WHERE erasure_id = ?`);
  }

  backups(): BackupRow[] {
    return this.#all.all() as BackupRow[];
  }

  orders(): ErasedEntity[] {
    return this.#orders.all() as ErasedEntity[];
  }

  order(erasureId: number): ErasedEntity | undefined {
    return this.#order.get(erasureId) as ErasedEntity | undefined;
  }
}
