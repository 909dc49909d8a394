import type { Database } from 'better-sqlite3';

/** Rows examined in one step. */
const SCAN_ROWS = 2000;

export interface OldRows {
  readonly seqs: readonly number[];
  /** No later row is older: this pass has ended. */
  readonly isDone: boolean;
}

/**
 * Finds rows older than the retention. Rows are stored in the order they were recorded, which is nearly by age: a pass
 * walks from the oldest row, skips rows that are still needed, and ends at the first young row.
 */
export class RetentionReads {
  readonly #deliveries;
  readonly #events;
  readonly #oldestTallies;
  #deliveriesFrom = 0;
  #eventsFrom = 0;
  #talliesFrom = 0;

  constructor(db: Database) {
    this.#deliveries = db.prepare(
      `SELECT seq, created_at AS createdAt, created_at AS lastAt FROM delivery WHERE seq > ? ORDER BY seq
       LIMIT ?`,
    );
    this.#events = db.prepare(
      'SELECT seq, created_at AS createdAt, last_at AS lastAt FROM event WHERE seq > ? ORDER BY seq LIMIT ?',
    );
    this.#oldestTallies = db.prepare(
      `SELECT n.seq, (SELECT min(created_at) FROM tally t WHERE t.endpoint = n.seq) AS oldestAt
       FROM log_endpoint n WHERE n.seq > ? ORDER BY n.seq LIMIT ?`,
    );
  }

  oldDeliveries(before: number, limit: number): OldRows {
    const found = scan(this.#deliveries, this.#deliveriesFrom, before, limit);
    this.#deliveriesFrom = found.isDone ? 0 : found.reached;
    return found;
  }

  oldEvents(before: number, limit: number): OldRows {
    const found = scan(this.#events, this.#eventsFrom, before, limit);
    this.#eventsFrom = found.isDone ? 0 : found.reached;
    return found;
  }

  /** Returns endpoints with tallies up to a time. `limit`: the most endpoints; the pass stays where it is until they have none. */
  oldTallies(last: number, limit: number): OldRows {
    const rows = this.#oldestTallies.all(this.#talliesFrom, SCAN_ROWS) as OldestTally[];
    const old = rows.filter(({ oldestAt }) => oldestAt !== null && oldestAt <= last).slice(0, limit);
    const isDone = old.length === 0 && rows.length < SCAN_ROWS;
    if (old.length === 0) this.#talliesFrom = isDone ? 0 : (rows.at(-1)?.seq ?? 0);
    return { seqs: old.map(({ seq }) => seq), isDone };
  }
}

/** An endpoint with its oldest tally. */
interface OldestTally {
  readonly seq: number;
  readonly oldestAt: number | null;
}

interface AgedRow {
  readonly seq: number;
  readonly createdAt: number;
  readonly lastAt: number;
}

function scan(
  statement: { iterate(...args: number[]): IterableIterator<unknown> },
  from: number,
  before: number,
  limit: number,
): OldRows & { readonly reached: number } {
  const seqs: number[] = [];
  let reached = from;
  let seen = 0;
  for (const row of statement.iterate(from, SCAN_ROWS) as IterableIterator<AgedRow>) {
    if (row.createdAt >= before) return { seqs, reached, isDone: true };
    if (row.lastAt < before) seqs.push(row.seq);
    reached = row.seq;
    seen += 1;
    if (seqs.length >= limit) return { seqs, reached, isDone: false };
  }
  return { seqs, reached, isDone: seen < SCAN_ROWS };
}
