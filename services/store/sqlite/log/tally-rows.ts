import type { Database } from 'better-sqlite3';
import type { LogTallies, TalliedAttempt } from '../../log/log-rows.ts';
import { isFull } from '../../log/tally/pending-tallies.ts';
import { addCells, encodeCells, Tallies } from '../../log/tally/tallies.ts';

/**
 * Writes the tallies. Each batch adds one row to the end of `tally_delta`, in its transaction: the tallies of its endpoints
 * lie far apart, and would dirty a page each. Enough such rows are merged into the tallies together.
 */
export class TallyRows implements LogTallies {
  readonly #batch = new Tallies();
  readonly #add;
  readonly #pending;
  readonly #deltas;
  readonly #clear;
  readonly #read;
  readonly #write;
  readonly #delete;
  /** The rows that are not merged yet. */
  #rows = 0;
  #bytes = 0;

  constructor(db: Database) {
    this.#add = db.prepare('INSERT INTO tally_delta (first_at, last_at, tallies) VALUES (?, ?, ?)');
    this.#pending = db.prepare(
      'SELECT count(*) AS rows, coalesce(sum(length(tallies)), 0) AS bytes FROM tally_delta',
    );
    this.#deltas = db.prepare('SELECT tallies FROM tally_delta').pluck();
    this.#clear = db.prepare('DELETE FROM tally_delta');
    this.#read = db.prepare('SELECT cells FROM tally WHERE endpoint = ? AND created_at = ?').pluck();
    this.#write = db.prepare('INSERT OR REPLACE INTO tally VALUES (?, ?, ?)');
    this.#delete = db.prepare(
      `DELETE FROM tally WHERE endpoint = ? AND created_at IN (
         SELECT created_at FROM tally WHERE endpoint = ? AND created_at <= ? ORDER BY created_at LIMIT ?)`,
    );
    this.#count();
  }

  count(attempt: TalliedAttempt): void {
    this.#batch.count(attempt);
  }

  /** Writes what the batch has counted. */
  flush(): void {
    if (this.#batch.isEmpty) return;
    const { firstAt, lastAt, bytes } = this.#batch.encode();
    this.#add.run(firstAt, lastAt, bytes);
    this.#batch.clear();
    this.#rows += 1;
    this.#bytes += bytes.length;
  }

  /** Merges the rows when there are enough. Called at the end of a transaction. */
  fill(): void {
    if (isFull({ rows: this.#rows, bytes: this.#bytes })) this.merge();
  }

  /** Deletes the tallies of these endpoints up to a time, at most so many. Returns the number deleted. */
  delete(endpoints: readonly number[], last: number, limit: number): number {
    let deleted = 0;
    for (const endpoint of endpoints) {
      if (deleted >= limit) break;
      deleted += this.#delete.run(endpoint, endpoint, last, limit - deleted).changes;
    }
    return deleted;
  }

  merge(): void {
    if (this.#rows === 0) return;
    const all = new Tallies();
    for (const bytes of this.#deltas.all() as Buffer[]) all.add(bytes);
    for (const { endpoint, createdAt, cells } of all.list) {
      const stored = this.#read.get(endpoint, createdAt) as Buffer | undefined;
      if (stored) addCells(cells, stored);
      this.#write.run(endpoint, createdAt, encodeCells(cells));
    }
    this.#clear.run();
    this.#rows = 0;
    this.#bytes = 0;
  }

  rolledBack(): void {
    this.#batch.clear();
    this.#count();
  }

  #count(): void {
    const { rows, bytes } = this.#pending.get() as { readonly rows: number; readonly bytes: number };
    this.#rows = rows;
    this.#bytes = bytes;
  }
}
