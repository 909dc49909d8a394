import type { Database } from 'better-sqlite3';
import { unpackId } from '../../../sqlite/ids.ts';
import { ATTEMPTS_PER_DELIVERY } from '../../log/delivery.ts';
import type { AttemptPlace } from '../log/attempt-contents.ts';
import type { JournalWriter } from '../log/journal-writer.ts';

type PackedId = Uint8Array | string;

/** Deletes rows that the reader found to be too old, a few at a time so that no commit waits long. */
export class RetentionWrites {
  readonly #events: JournalWriter['events'];
  readonly #deliveries: JournalWriter['deliveries'];
  readonly #attempts: JournalWriter['attempts'];
  readonly #missed: JournalWriter['missed'];
  readonly #deleteAttempts;
  readonly #deleteBody;
  readonly #deleteDelivery;
  readonly #deleteOfEvent;
  readonly #deleteEvent;
  readonly #deleteAbout;

  constructor(db: Database, { events, deliveries, attempts, missed }: JournalWriter) {
    this.#events = events;
    this.#deliveries = deliveries;
    this.#attempts = attempts;
    this.#missed = missed;
    this.#deleteAttempts = db.prepare(
      'DELETE FROM attempt WHERE attempt_id BETWEEN ? AND ? RETURNING attempt_id AS attemptId, content',
    );
    this.#deleteBody = db.prepare('DELETE FROM delivery_body WHERE delivery = ?');
    this.#deleteDelivery = db.prepare(
      'DELETE FROM delivery WHERE seq = ? AND created_at < ? RETURNING delivery_id AS id, endpoint, event, created_at AS createdAt',
    );
    this.#deleteOfEvent = db.prepare('DELETE FROM delivery_by_event WHERE event = ? AND delivery = ?');
    // Checked again: a delivery of it may have been made since the read.
    this.#deleteEvent = db.prepare(
      'DELETE FROM event WHERE seq = ? AND last_at < ? RETURNING event_id AS id, merchant, created_at AS createdAt, entity_id AS entityId, subject_id AS subjectId',
    );
    this.#deleteAbout = db.prepare(
      'DELETE FROM event_about WHERE key = substr(?, -5) AND merchant = ? AND event = ?',
    );
  }

  /** Returns the number of rows deleted. */
  deleteDeliveries(seqs: readonly number[], before: number): number {
    let deleted = 0;
    const attempts: AttemptPlace[] = [];
    this.#deliveries.forgetPending();
    for (const seq of seqs) {
      const row = this.#deleteDelivery.get(seq, before) as
        | { id: PackedId; endpoint: number; event: number; createdAt: number }
        | undefined;
      if (!row) continue;
      const first = seq * ATTEMPTS_PER_DELIVERY;
      attempts.push(
        ...(this.#deleteAttempts.all(first, first + ATTEMPTS_PER_DELIVERY - 1) as AttemptPlace[]),
      );
      this.#deleteBody.run(seq);
      this.#deliveries.index.remove(0, unpackId(row.id));
      this.#deliveries.list.remove(row.endpoint, seq, row.createdAt);
      this.#deleteOfEvent.run(row.event, seq);
      deleted += 1;
    }
    this.#attempts.contents.remove(attempts);
    return deleted;
  }

  /** Returns the number of rows deleted. */
  deleteEvents(seqs: readonly number[], before: number): number {
    const deleted: number[] = [];
    for (const seq of seqs) {
      const row = this.#deleteEvent.get(seq, before) as
        | {
            id: PackedId;
            merchant: number;
            createdAt: number;
            entityId: PackedId;
            subjectId: PackedId | null;
          }
        | undefined;
      if (!row) continue;
      this.#events.index.remove(row.merchant, unpackId(row.id));
      this.#events.list.remove(row.merchant, seq, row.createdAt);
      this.#deleteAbout.run(row.entityId, row.merchant, seq);
      if (row.subjectId !== null) this.#deleteAbout.run(row.subjectId, row.merchant, seq);
      this.#missed.removeEvent(seq);
      deleted.push(seq);
    }
    this.#events.contents.remove(deleted);
    return deleted.length;
  }
}
