import type { Database } from 'better-sqlite3';
import { packId, unpackId } from '../../../sqlite/ids.ts';

/** One order, in the form in which events are matched against it. */
export interface ErasureRow {
  readonly erasureId: number;
  readonly entityId: string;
  /** The merchant's number; null = any. */
  readonly merchant: number | null;
  readonly acceptedBefore: number;
}

/**
 * The orders to erase an entity, all in memory: every recorded event is matched against them, because an event accepted
 * before an order may be recorded after it.
 */
export class ErasureRows {
  readonly #all;
  readonly #insert;
  readonly #finish;
  readonly #forget;
  #byEntity = new Map<string, ErasureRow[]>();

  constructor(db: Database) {
    this.#all = db.prepare(
      `SELECT erasure_id AS erasureId, entity_id AS entityId, merchant, accepted_before AS acceptedBefore
       FROM erasure`,
    );
    this.#insert = db.prepare('INSERT INTO erasure (entity_id, merchant, accepted_before) VALUES (?, ?, ?)');
    this.#finish = db.prepare('UPDATE erasure SET done_at = ? WHERE erasure_id = ? AND done_at IS NULL');
    this.#forget = db.prepare('DELETE FROM erasure WHERE accepted_before < ? AND done_at IS NOT NULL');
    this.readAll();
  }

  add(entityId: string, merchant: number | null, acceptedBefore: number): number {
    const erasureId = Number(this.#insert.run(packId(entityId), merchant, acceptedBefore).lastInsertRowid);
    this.#remember({ erasureId, entityId, merchant, acceptedBefore });
    return erasureId;
  }

  /** Returns false when it was already finished. */
  finish(erasureId: number, at: number): boolean {
    return this.#finish.run(Math.floor(at), erasureId).changes > 0;
  }

  /** Drops orders older than every event that is kept. */
  forget(before: number): void {
    if (this.#forget.run(Math.floor(before)).changes > 0) this.readAll();
  }

  /** Returns whether an event is kept without its bodies. */
  covers(entityId: string, merchant: number, acceptedAt: number): boolean {
    if (this.#byEntity.size === 0) return false;
    const orders = this.#byEntity.get(entityId) ?? [];
    return orders.some(
      (order) =>
        acceptedAt < order.acceptedBefore && (order.merchant === null || order.merchant === merchant),
    );
  }

  /** Reads all orders from the file: at the start, and after a transaction was rolled back. */
  readAll(): void {
    this.#byEntity = new Map();
    for (const row of this.#all.iterate() as IterableIterator<
      ErasureRow & { entityId: Uint8Array | string }
    >) {
      this.#remember({ ...row, entityId: unpackId(row.entityId) });
    }
  }

  #remember(row: ErasureRow): void {
    const orders = this.#byEntity.get(row.entityId);
    if (orders) orders.push(row);
    else this.#byEntity.set(row.entityId, [row]);
  }
}
