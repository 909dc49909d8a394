import type { Database } from 'better-sqlite3';
import { ATTEMPTS_PER_DELIVERY } from '../../log/delivery.ts';
import type { ContentWrites } from './contents.ts';
import type { DeliveryRows } from './delivery-rows.ts';

/**
 * Removes bodies and keeps the rows. Events go first: deliveries recorded afterwards are then stored without bodies.
 */
export class BodyWrites {
  readonly #deliveries: DeliveryRows;
  readonly #contents: ContentWrites;
  readonly #event;
  readonly #requestBody;
  readonly #responseBodies;
  readonly #walkedTo;

  constructor(db: Database, deliveries: DeliveryRows, contents: ContentWrites) {
    this.#deliveries = deliveries;
    this.#contents = contents;
    this.#event = db.prepare(
      `UPDATE event SET data = NULL, bodies = NULL, bodies_removed_at = ? WHERE seq = ? AND bodies_removed_at IS
       NULL`,
    );
    this.#requestBody = db.prepare('DELETE FROM delivery_body WHERE delivery = ?');
    this.#responseBodies = db.prepare(
      'UPDATE attempt SET response_body = NULL WHERE attempt_id BETWEEN ? AND ? AND length(response_body) > 0',
    );
    this.#walkedTo = db.prepare('UPDATE meta SET value = ? WHERE name = ? AND value < ?');
  }

  /** Returns how many rows had bodies. `walkedTo`: the position that the walk by age has reached. */
  remove(table: 'event' | 'delivery', seqs: readonly number[], at: number, walkedTo: number | null): number {
    // Deliveries in memory do not know about the removal.
    this.#deliveries.forgetPending();
    let removed = 0;
    if (table === 'event') this.#contents.remove(seqs);
    for (const seq of seqs) removed += table === 'event' ? this.#ofEvent(seq, at) : this.#ofDelivery(seq);
    if (walkedTo !== null) this.#walkedTo.run(walkedTo, `${table}_bodies_removed_to`, walkedTo);
    return removed;
  }

  #ofEvent(seq: number, at: number): number {
    return this.#event.run(Math.floor(at), seq).changes;
  }

  #ofDelivery(seq: number): number {
    const first = seq * ATTEMPTS_PER_DELIVERY;
    const requests = this.#requestBody.run(seq).changes;
    const responses = this.#responseBodies.run(first, first + ATTEMPTS_PER_DELIVERY - 1).changes;
    return requests + responses > 0 ? 1 : 0;
  }
}
