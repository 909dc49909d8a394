import type { Database } from 'better-sqlite3';
import { packId } from '../../../sqlite/ids.ts';
import type { ErasureOrder } from '../../log/erasure-orders.ts';

/** Rows examined in one step of a walk by age. */
const SCAN_ROWS = 2000;
/** Rows examined in one step of an erasure, which examines all rows. */
const ERASURE_SCAN_ROWS = 10_000;

/** The result of walking a part of a table. */
export interface Walked {
  readonly seqs: readonly number[];
  /** The last row examined, or where the walk began. */
  readonly reached: number;
  readonly isDone: boolean;
}

/** Finds rows whose bodies must be removed: by age, or of one entity or merchant. */
export class BodyReads {
  readonly #aged;
  readonly #erasure;
  readonly #erased;
  readonly #last;

  constructor(db: Database) {
    const aged = (table: 'event' | 'delivery') =>
      db.prepare(
        `SELECT seq, created_at AS createdAt FROM ${table} WHERE seq >
         (SELECT value FROM meta WHERE name = '${table}_bodies_removed_to') ORDER BY seq LIMIT ?`,
      );
    this.#aged = { event: aged('event'), delivery: aged('delivery') };
    this.#erasure = db.prepare(
      'SELECT entity_id AS entityId, merchant, accepted_before AS acceptedBefore FROM erasure WHERE erasure_id = ?',
    );
    const isOf = '(? IS NULL OR ev.entity_id = ?) AND (? IS NULL OR ev.merchant = ?) AND ev.created_at < ?';
    this.#erased = {
      event: db.prepare(`SELECT ev.seq FROM event ev WHERE ev.seq > ? AND ev.seq <= ? AND ${isOf}`).pluck(),
      // In the order of deliveries, whose events are in nearly the same order.
      delivery: db
        .prepare(
          `SELECT d.seq FROM delivery d CROSS JOIN event ev ON ev.seq = d.event
           WHERE d.seq > ? AND d.seq <= ? AND ${isOf}`,
        )
        .pluck(),
    };
    this.#last = {
      event: db.prepare('SELECT coalesce(max(seq), 0) FROM event').pluck(),
      delivery: db.prepare('SELECT coalesce(max(seq), 0) FROM delivery').pluck(),
    };
  }

  /**
   * Returns rows older than `before` that the walk has not reached yet, in the order they were recorded: nearly by age.
   */
  aged(table: 'event' | 'delivery', before: number, limit: number): Walked {
    const seqs: number[] = [];
    const rows = this.#aged[table].iterate(Math.min(limit, SCAN_ROWS));
    for (const row of rows as IterableIterator<{ seq: number; createdAt: number }>) {
      if (row.createdAt >= before) break;
      seqs.push(row.seq);
    }
    return { seqs, reached: seqs.at(-1) ?? 0, isDone: seqs.length === 0 };
  }

  /** Returns rows of an order's entity among the next ones after `from`. */
  ofErasure(erasureId: number, table: 'event' | 'delivery', from: number): Walked & { readonly at: number } {
    const order = this.#erasure.get(erasureId) as ErasureOrder | undefined;
    if (order === undefined) throw new Error(`there is no erasure ${erasureId}`);
    const { merchant, acceptedBefore } = order;
    const entityId = order.entityId === null ? null : packId(order.entityId);
    const to = from + ERASURE_SCAN_ROWS;
    const of = [entityId, entityId, merchant, merchant, acceptedBefore];
    const seqs = this.#erased[table].all(from, to, ...of) as number[];
    const isDone = to >= (this.#last[table].get() as number);
    return { seqs, reached: to, isDone, at: acceptedBefore };
  }
}
