import type { Database } from 'better-sqlite3';
import { SKIP_REASON, STATUS, TRIGGER } from '../codes.ts';
import type { Delivery } from '../log/delivery-rows.ts';

const PASSED_OVER: readonly number[] = [
  SKIP_REASON.of.endpoint_disabled,
  SKIP_REASON.of.endpoint_auto_disabled,
];

/** True for a skip that a replay makes up for: the endpoint was disabled. */
export function isPassedOver(reason: number): boolean {
  return PASSED_OVER.includes(reason);
}

/**
 * True for the event's own delivery, with the whole schedule. What was asked for by hand has one attempt, and how it ends
 * says nothing new unless it succeeds.
 */
export function isOwn(delivery: Delivery): boolean {
  return delivery.attemptsMax > 1;
}

/** Writes what endpoints have not got (see migrations/003-replays.ts). All is well = nothing is written. */
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

  /** The endpoint was disabled when the event came. `createdAt`: the event's, whole milliseconds. */
  passOver(endpoint: number, createdAt: number, event: number): void {
    this.#pass.run(endpoint, createdAt, event);
  }

  /** A delivery was made of what the endpoint had been passed over for. */
  begin(delivery: Delivery): void {
    this.#begin.run(delivery.seq, delivery.event, delivery.endpoint);
  }

  /** The event was routed again after a crash, and the endpoint was not passed over this time. */
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
    const isLost = status === STATUS.of.exhausted || status === STATUS.of.cancelled;
    if (isLost && isOwn(delivery)) {
      this.#add.run(delivery.endpoint, delivery.seq, delivery.event);
      return;
    }
    const wasLost = before === STATUS.of.exhausted || before === STATUS.of.cancelled;
    const isUsual = trigger === TRIGGER.of.live && !wasLost;
    if (status === STATUS.of.delivered && !isUsual) this.#remove.run(delivery.event, delivery.endpoint);
  }
}
