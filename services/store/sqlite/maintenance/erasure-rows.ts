import type { Database } from 'better-sqlite3';
import { type ErasureOrder, ErasureOrders } from '../../log/erasure-orders.ts';

/**
 * The orders to erase an entity, all in memory: every recorded event is matched against them, because an event accepted
 * before an order may be recorded after it.
 */
export class ErasureRows {
  readonly #all;
  readonly #insert;
  readonly #forget;
  #orders = new ErasureOrders([]);

  constructor(db: Database) {
    this.#all = db.prepare(
      'SELECT entity_id AS entityId, merchant, accepted_before AS acceptedBefore FROM erasure',
    );
    this.#insert = db.prepare('INSERT INTO erasure (entity_id, merchant, accepted_before) VALUES (?, ?, ?)');
    this.#forget = db.prepare('DELETE FROM erasure WHERE accepted_before < ? AND done_at IS NOT NULL');
    this.readAll();
  }

  /** Returns the order's number. */
  add(order: ErasureOrder): number {
    const { entityId, merchant, acceptedBefore } = order;
    this.#orders.add(order);
    return Number(this.#insert.run(entityId, merchant, acceptedBefore).lastInsertRowid);
  }

  /** Drops orders older than every event that is kept. */
  forget(before: number): void {
    if (this.#forget.run(Math.floor(before)).changes > 0) this.readAll();
  }

  /** Returns whether an event is kept without its bodies. */
  covers(entityId: string, merchant: number, acceptedAt: number): boolean {
    return this.#orders.covers(entityId, merchant, acceptedAt);
  }

  /** Reads all orders from the file: at the start, and after a transaction was rolled back. */
  readAll(): void {
    this.#orders = new ErasureOrders(this.#all.all() as ErasureOrder[]);
  }
}
