import type { Limits } from '../../limits.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';

/** Ended windows deleted with each new one, so that the table keeps only those that run. */
const ENDED_PER_WINDOW = 2;

/**
 * The running window of each key and limit, over all processes, by the database's clock. In a table that does not survive
 * a crash of the server.
 */
export class PostgresLimits implements Limits {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  take(...[keyId, limit, windowMs]: Parameters<Limits['take']>): ReturnType<Limits['take']> {
    return this.#database.transaction(async ({ first, change }) => {
      const window = await first<{ readonly used: number; readonly ends_in_ms: number }>(TAKE, [
        keyId,
        limit,
        windowMs,
      ]);
      if (!window) throw new Error('a request was not counted');
      if (window.used === 1) await change(FORGET_ENDED, [ENDED_PER_WINDOW]);
      return { used: window.used, endsInMs: Math.max(0, window.ends_in_ms) };
    });
  }
}

const END = "clock_timestamp() + $3 * interval '1 millisecond'";

const TAKE = `INSERT INTO request_window AS w (key_id, name, used, ends_at) VALUES ($1, $2, 1, ${END})
  ON CONFLICT (key_id, name) DO UPDATE SET
  used = CASE WHEN w.ends_at > clock_timestamp() THEN w.used + 1 ELSE 1 END,
  ends_at = CASE WHEN w.ends_at > clock_timestamp() THEN w.ends_at ELSE ${END} END
  RETURNING used, (extract(epoch FROM ends_at - clock_timestamp()) * 1000)::float8 AS ends_in_ms`;

/** Deletes windows that have ended. A row that another transaction has locked is left to that transaction. */
const FORGET_ENDED = `DELETE FROM request_window WHERE (key_id, name) IN (
  SELECT key_id, name FROM request_window WHERE ends_at <= clock_timestamp() ORDER BY ends_at LIMIT $1
  FOR UPDATE SKIP LOCKED)`;
