import type { Database } from 'better-sqlite3';
import type { Delivery } from '../../log/delivery.ts';
import { missedAfter } from '../../log/missed.ts';

/** Writes the events that endpoints have missed (see migrations/log-tables.ts). Writes nothing while nothing fails. */
export class MissedRows {
  readonly #pass;
  readonly #add;
  readonly #begin;
  readonly #remove;
  readonly #removePassed;
  readonly #removeEvent;

  constructor(db: Database) {
    this.#pass = db.prepare('INSERT OR IGNORE INTO missed VALUES (?, ?, ?, NULL)');
    this.#add = db.prepare(
      `INSERT INTO missed SELECT ?, created_at, seq, ? FROM event WHERE seq = ?
       ON CONFLICT DO UPDATE SET delivery = excluded.delivery`,
    );
    this.#begin = db.prepare('UPDATE missed SET delivery = ? WHERE event = ? AND endpoint = ?');
    this.#remove = db.prepare('DELETE FROM missed WHERE event = ? AND endpoint = ?');
    this.#removePassed = db.prepare(
      'DELETE FROM missed WHERE event = ? AND endpoint = ? AND delivery IS NULL',
    );
    this.#removeEvent = db.prepare('DELETE FROM missed WHERE event = ?');
  }

  /** The endpoint was disabled when the event was routed. `createdAt`: the event's, whole milliseconds. */
  skip(endpoint: number, createdAt: number, event: number): void {
    this.#pass.run(endpoint, createdAt, event);
  }

  /** A delivery was made for a skipped event. */
  begin(delivery: Delivery): void {
    this.#begin.run(delivery.seq, delivery.event, delivery.endpoint);
  }

  /** The event was routed again after a crash, and was not skipped for the endpoint this time. */
  removePassed(event: number, endpoint: number): void {
    this.#removePassed.run(event, endpoint);
  }

  /** The event was deleted. */
  removeEvent(event: number): void {
    this.#removeEvent.run(event);
  }

  /** The delivery's status may have changed from `before`. */
  follow(delivery: Delivery, before: number): void {
    const change = missedAfter(delivery, before);
    if (change === 'missed') this.#add.run(delivery.endpoint, delivery.seq, delivery.event);
    if (change === 'received') this.#remove.run(delivery.event, delivery.endpoint);
  }
}
