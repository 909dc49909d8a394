import type { Database } from 'better-sqlite3';
import type { AnswerToStore } from '../../change.ts';

/** Expired responses deleted with each new one, so that the table does not grow beyond the valid ones. */
const EXPIRED_PER_ANSWER = 10;

/** Responses kept for a repeated Idempotency-Key. */
export class AnswerWrites {
  readonly #store;
  readonly #expire;

  constructor(db: Database) {
    this.#store = db.prepare('INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?)');
    this.#expire = db.prepare(
      `DELETE FROM answer WHERE scope IN (SELECT scope FROM answer WHERE expires_at <= ? ORDER BY expires_at
       LIMIT ?)`,
    );
  }

  /** `outboxId`: the change that it reports, so that a repeated request can wait for it as well. */
  store(answer: AnswerToStore, outboxId: number, now: number): void {
    const { scope, requestHash, status, sealed, expiresAt } = answer;
    this.#expire.run(Math.floor(now), EXPIRED_PER_ANSWER);
    this.#store.run(scope, requestHash, status, sealed, outboxId, Math.floor(expiresAt));
  }
}
