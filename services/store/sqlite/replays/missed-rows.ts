import type { Database } from 'better-sqlite3';
import { SKIP_REASON, STATUS, TRIGGER } from '../codes.ts';
import type { Delivery } from '../log/delivery-rows.ts';

const PASSED_OVER: readonly number[] = [
  SKIP_REASON.of.endpoint_disabled,
  SKIP_REASON.of.endpoint_auto_disabled,
];

/** Statuses of deliveries that ended without success. */
const LOST: readonly number[] = [STATUS.of.exhausted, STATUS.of.refused, STATUS.of.cancelled];

/** Returns whether a replay makes up for a skip with this reason: the endpoint was disabled. */
export function isPassedOver(reason: number): boolean {
  return PASSED_OVER.includes(reason);
}

/**
 * Returns whether it is the event's own delivery, with the whole schedule. A requested delivery has one attempt, and
 * changes what was missed only when it succeeds.
 */
export function isOwn(delivery: Delivery): boolean {
  return delivery.attemptsMax > 1;
}

/** Writes the events that endpoints have missed (see migrations/003-replays.ts). Writes nothing while nothing fails. */
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
    const { status, trigger } = delivery;
    if (status === before || trigger === TRIGGER.of.test) return;
    if (LOST.includes(status) && isOwn(delivery)) {
      this.#add.run(delivery.endpoint, delivery.seq, delivery.event);
      return;
    }
    const isUsual = trigger === TRIGGER.of.live && !LOST.includes(before);
    if (status === STATUS.of.delivered && !isUsual) this.#remove.run(delivery.event, delivery.endpoint);
  }
}
