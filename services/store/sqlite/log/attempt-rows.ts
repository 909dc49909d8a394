import type { Database } from 'better-sqlite3';
import type { LogAttempts, NewAttempt } from '../../log/log-rows.ts';

/** Writes the attempts of the log. */
export class AttemptRows implements LogAttempts {
  readonly #insert;

  constructor(db: Database) {
    this.#insert = db.prepare(`INSERT OR IGNORE INTO attempt VALUES (${Array(11).fill('?').join(', ')})`);
  }

  add({ response, ...attempt }: NewAttempt): boolean {
    const inserted = this.#insert.run(
      attempt.attemptId,
      attempt.startedAt,
      attempt.durationMs,
      response?.status ?? null,
      response ? JSON.stringify(response.headers) : null,
      response && attempt.keepsBody ? response.body : null,
      response ? Number(response.bodyTruncated) : null,
      attempt.failureCode,
      attempt.failureDetail,
      attempt.nextAttemptAt,
      attempt.signature,
    );
    return inserted.changes > 0;
  }
}
