import type { Database } from 'better-sqlite3';
import { ATTEMPTS_PER_DELIVERY } from '../../log/delivery.ts';
import type { AttemptPlace } from './attempt-contents.ts';
import type { JournalWriter } from './journal-writer.ts';

/**
 * Removes bodies and keeps the rows. Events go first: deliveries recorded afterwards are then stored without bodies.
 */
export class BodyWrites {
  readonly #log: Pick<JournalWriter, 'events' | 'deliveries' | 'attempts'>;
  readonly #event;
  readonly #requestBody;
  readonly #attempts;
  readonly #walkedTo;

  constructor(db: Database, log: JournalWriter) {
    this.#log = log;
    this.#event = db.prepare(
      `UPDATE event SET data = NULL, bodies = NULL, bodies_removed_at = ? WHERE seq = ? AND bodies_removed_at IS
       NULL`,
    );
    this.#requestBody = db.prepare('DELETE FROM delivery_body WHERE delivery = ?');
    this.#attempts = db.prepare(
      `SELECT attempt_id AS attemptId, content FROM attempt WHERE attempt_id BETWEEN ? AND ? AND response_status IS NOT NULL`,
    );
    this.#walkedTo = db.prepare('UPDATE meta SET value = ? WHERE name = ? AND value < ?');
  }

  /** Returns how many rows had bodies. `walkedTo`: the position that the walk by age has reached. */
  remove(table: 'event' | 'delivery', seqs: readonly number[], at: number, walkedTo: number | null): number {
    // Deliveries in memory do not know about the removal.
    this.#log.deliveries.forgetPending();
    const removed = table === 'event' ? this.#ofEvents(seqs, at) : this.#ofDeliveries(seqs);
    if (walkedTo !== null) this.#walkedTo.run(walkedTo, `${table}_bodies_removed_to`, walkedTo);
    return removed;
  }

  #ofEvents(seqs: readonly number[], at: number): number {
    this.#log.events.contents.remove(seqs);
    let removed = 0;
    for (const seq of seqs) removed += this.#event.run(Math.floor(at), seq).changes;
    return removed;
  }

  #ofDeliveries(seqs: readonly number[]): number {
    const removed = new Set<number>();
    const attempts: AttemptPlace[] = [];
    for (const seq of seqs) {
      if (this.#requestBody.run(seq).changes > 0) removed.add(seq);
      const first = seq * ATTEMPTS_PER_DELIVERY;
      attempts.push(...(this.#attempts.all(first, first + ATTEMPTS_PER_DELIVERY - 1) as AttemptPlace[]));
    }
    for (const attemptId of this.#log.attempts.contents.removeBodies(attempts))
      removed.add(Math.floor(attemptId / ATTEMPTS_PER_DELIVERY));
    return removed.size;
  }
}
