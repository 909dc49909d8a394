import type { Database } from 'better-sqlite3';
import { packId } from '../../../sqlite/ids.ts';
import { STATUS, TRIGGER } from '../codes.ts';
import { IdIndex } from './id-index.ts';
import { ListIndex } from './list-index.ts';
import { nextSeq } from './next-seq.ts';

/** A delivery while a batch changes it; written once, in its last state. */
export interface Delivery {
  readonly seq: number;
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly endpoint: number;
  readonly event: number;
  readonly type: number;
  readonly apiVersion: number;
  readonly trigger: number;
  readonly attemptsMax: number;
  /** 1 when its event's bodies were removed, else 0. */
  readonly isRemoved: number;
  createdAt: number;
  status: number;
  cancelReason: number | null;
  attemptsMade: number;
  nextAttemptAt: number | null;
  lastAttemptAt: number | null;
  lastResponseStatus: number | null;
  lastFailureCode: number | null;
  /** Why it is parked, while it waits. */
  parked: number | null;
  isNew: boolean;
  isChanged: boolean;
}

/** The result of an attempt, in codes. */
export interface AttemptResult {
  readonly number: number;
  readonly startedAt: number;
  readonly status: number;
  readonly nextAttemptAt: number | null;
  readonly responseStatus: number | null;
  readonly failureCode: number | null;
}

/** The numbers of one delivery's attempts fit in one byte. */
export const ATTEMPTS_PER_DELIVERY = 256;

/**
 * Applies an attempt: pending → failed (retries left) → delivered | exhausted | refused |
 * cancelled. Entries may arrive twice
 * and, from different partitions, out of order: the highest attempt wins, and a delivered delivery stays delivered.
 */
export function applyAttempt(delivery: Delivery, result: AttemptResult): void {
  if (result.number <= delivery.attemptsMade && result.status !== STATUS.of.delivered) return;
  if (result.number >= delivery.attemptsMade) {
    delivery.lastAttemptAt = result.startedAt;
    delivery.lastResponseStatus = result.responseStatus;
    delivery.lastFailureCode = result.failureCode;
    delivery.attemptsMade = result.number;
  }
  delivery.isChanged = true;
  if (delivery.status === STATUS.of.delivered) return;
  delivery.status = result.status;
  delivery.nextAttemptAt = result.nextAttemptAt;
  delivery.parked = null;
  delivery.cancelReason = null;
}

/** Statuses that no cancellation changes. */
const ENDED: readonly number[] = [STATUS.of.delivered, STATUS.of.exhausted, STATUS.of.refused];

/** The attempt with this number will not be made. The copy of a task whose attempt was made changes nothing. */
export function applyCancel(delivery: Delivery, attempt: number, reason: number): void {
  if (ENDED.includes(delivery.status) || attempt <= delivery.attemptsMade) return;
  delivery.status = STATUS.of.cancelled;
  delivery.cancelReason = reason;
  delivery.nextAttemptAt = null;
  delivery.parked = null;
  delivery.isChanged = true;
}

/** The attempt with this number was put back. An attempt that was made or cancelled is not changed. */
export function applyParked(delivery: Delivery, attempt: number, reason: number, until: number): void {
  const waits = delivery.status === STATUS.of.pending || delivery.status === STATUS.of.failed;
  if (!waits || attempt <= delivery.attemptsMade) return;
  delivery.parked = reason;
  delivery.nextAttemptAt = until;
  delivery.isChanged = true;
}

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

  /** Starts a delivery that has no row. `write` creates it; its number is reserved. */
  begin(made: {
    readonly deliveryId: string;
    readonly endpointId: string;
    readonly endpoint: number;
    readonly event: number;
    readonly type: number;
    readonly apiVersion: number;
    readonly trigger: number;
    readonly attemptsMax: number;
    readonly createdAt: number;
    readonly isRemoved: boolean;
  }): Delivery {
    const seq = this.#nextSeq++;
    this.index.add(0, made.deliveryId, seq);
    return {
      seq,
      deliveryId: made.deliveryId,
      endpointId: made.endpointId,
      endpoint: made.endpoint,
      event: made.event,
      type: made.type,
      apiVersion: made.apiVersion,
      trigger: made.trigger,
      attemptsMax: made.attemptsMax,
      isRemoved: made.isRemoved ? 1 : 0,
      createdAt: made.createdAt,
      status: STATUS.of.pending,
      cancelReason: null,
      attemptsMade: 0,
      nextAttemptAt: null,
      lastAttemptAt: null,
      lastResponseStatus: null,
      lastFailureCode: null,
      parked: null,
      isNew: true,
      isChanged: false,
    };
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

/** Tests and manual resends do not count for an endpoint's health (docs/decisions.md, "Auto-disable"). */
export function countsForHealth(delivery: Delivery): boolean {
  return delivery.trigger !== TRIGGER.of.test && delivery.trigger !== TRIGGER.of.manual;
}
