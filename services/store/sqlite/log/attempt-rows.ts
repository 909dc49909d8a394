import type { Database } from 'better-sqlite3';
import type { LogAttempts, NewAttempt } from '../../log/log-rows.ts';
import { AttemptContentWrites } from './attempt-contents.ts';
import type { TallyRows } from './tally-rows.ts';

/** Writes the attempts of the log. */
export class AttemptRows implements LogAttempts {
  readonly contents: AttemptContentWrites;
  readonly #insert;

  constructor(db: Database, tallies: TallyRows) {
    this.contents = new AttemptContentWrites(db, tallies);
    this.#insert = db.prepare(`INSERT OR IGNORE INTO attempt VALUES (${Array(8).fill('?').join(', ')})`);
  }

  add({ response, ...attempt }: NewAttempt): boolean {
    const inserted = this.#insert.run(
      attempt.attemptId,
      attempt.startedAt,
      attempt.durationMs,
      response?.status ?? null,
      attempt.failureCode,
      attempt.failureDetail,
      attempt.nextAttemptAt,
      this.contents.place(),
    );
    if (inserted.changes === 0) return false;
    this.contents.add(attempt.attemptId, response, attempt.keepsBody, attempt.signature);
    return true;
  }
}
