import type { Database } from 'better-sqlite3';
import { packId } from '../../../sqlite/ids.ts';
import { STATUS } from '../../log/codes.ts';
import { type Delivery, type NewDelivery, newDelivery } from '../../log/delivery.ts';
import { IdIndex } from './id-index.ts';
import { ListIndex } from './list-index.ts';
import { nextSeq } from './next-seq.ts';

/** Deliveries without an attempt kept in memory; others are read when the attempt is recorded. */
const PENDING_MAX = 20_000;

/** Writes the deliveries of the log. */
export class DeliveryRows {
  readonly index: IdIndex;
  readonly list: ListIndex;
  #nextSeq: number;
  /** The attempt usually follows within moments: its delivery need not be read again. */
  readonly #pending = new Map<string, Delivery>();
  readonly #insert;
  readonly #update;
  readonly #setCreated;
  readonly #select;
  readonly #insertBody;

  constructor(db: Database) {
    this.index = new IdIndex(db, 'delivery');
    this.list = new ListIndex(db, 'delivery');
    this.#nextSeq = nextSeq(db, 'delivery');
    this.#insert = db.prepare(`INSERT INTO delivery VALUES (${Array(17).fill('?').join(', ')})`);
    this.#update = db.prepare(
      `UPDATE delivery SET status = ?, cancel_reason = ?, attempts_made = ?, next_attempt_at = ?,
       last_attempt_at = ?,
       last_response_status = ?, last_failure_code = ?, parked = ? WHERE seq = ?`,
    );
    // Separate: an update that names an indexed column rewrites its index even when the value stays.
    this.#setCreated = db.prepare('UPDATE delivery SET created_at = ? WHERE seq = ?');
    this.#select = db.prepare(
      `SELECT endpoint, event, type, api_version AS apiVersion, trigger, attempts_max AS attemptsMax,
       created_at AS createdAt, status, cancel_reason AS cancelReason, attempts_made AS attemptsMade,
       next_attempt_at AS nextAttemptAt, last_attempt_at AS lastAttemptAt,
       last_response_status AS lastResponseStatus, last_failure_code AS lastFailureCode, parked,
       coalesce((SELECT bodies_removed_at IS NOT NULL FROM event WHERE event.seq = delivery.event), 0) AS isRemoved
       FROM delivery WHERE seq = ?`,
    );
    this.#insertBody = db.prepare('INSERT OR IGNORE INTO delivery_body VALUES (?, ?)');
  }

  /** Returns the delivery as stored in the file, or undefined. */
  load(deliveryId: string, endpointId: string): Delivery | undefined {
    const pending = this.#pending.get(deliveryId);
    if (pending) {
      this.#pending.delete(deliveryId);
      return pending;
    }
    const seq = this.index.find(0, deliveryId);
    if (seq === undefined) return undefined;
    const row = this.#select.get(seq) as StoredDelivery;
    return { seq, deliveryId, endpointId, ...row, isNew: false, isChanged: false };
  }

  /** An attempt that is recorded first makes a row of its event. */
  ofNewEvent(): undefined {}

  /** Starts a delivery that has no row. `write` creates it; its number is reserved. */
  begin(made: NewDelivery): Delivery {
    const seq = this.#nextSeq++;
    this.index.add(0, made.deliveryId, seq);
    return newDelivery(seq, made);
  }

  /**
   * Forgets deliveries in memory, after some were deleted or the transaction was rolled back: they may not be in the
   * file.
   */
  forgetPending(): void {
    this.#pending.clear();
  }

  write(d: Delivery): void {
    if (d.isNew) {
      if (d.status === STATUS.of.pending) this.#keepPending(d);
      this.#insert.run(
        d.seq,
        packId(d.deliveryId),
        d.endpoint,
        d.event,
        d.type,
        d.apiVersion,
        d.trigger,
        d.status,
        d.cancelReason,
        d.attemptsMade,
        d.attemptsMax,
        d.createdAt,
        d.nextAttemptAt,
        d.lastAttemptAt,
        d.lastResponseStatus,
        d.lastFailureCode,
        d.parked,
      );
      d.isNew = false;
      d.isChanged = false;
    } else if (d.isChanged) {
      this.#update.run(
        d.status,
        d.cancelReason,
        d.attemptsMade,
        d.nextAttemptAt,
        d.lastAttemptAt,
        d.lastResponseStatus,
        d.lastFailureCode,
        d.parked,
        d.seq,
      );
    }
  }

  #keepPending(delivery: Delivery): void {
    if (this.#pending.size >= PENDING_MAX) this.#pending.clear();
    this.#pending.set(delivery.deliveryId, delivery);
  }

  /** Sets when it was requested: an attempt recorded first only knew about the event. */
  setCreated(delivery: Delivery, at: number): void {
    if (delivery.createdAt === at) return;
    const { createdAt, endpoint, seq } = delivery;
    delivery.createdAt = at;
    if (delivery.isNew) return;
    this.#setCreated.run(at, seq);
    this.list.move(endpoint, seq, createdAt, at);
  }

  /** Stores a body that is not among its event's. */
  addBody(delivery: Delivery, body: Uint8Array): void {
    this.#insertBody.run(delivery.seq, body);
  }
}

type StoredDelivery = Omit<Delivery, 'seq' | 'deliveryId' | 'endpointId' | 'isNew' | 'isChanged'>;
