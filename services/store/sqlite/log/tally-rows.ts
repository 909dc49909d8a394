import type { Database } from 'better-sqlite3';
import type { LogTallies, TalliedAttempt } from '../../log/log-rows.ts';
import { isFull } from '../../log/tally/pending-tallies.ts';
import { addCells, type EncodedTallies, encodeCells, Tallies } from '../../log/tally/tallies.ts';
import { TALLIED_TO } from '../lists/metric-reads.ts';

interface Delta {
  /** Its group of contents. */
  readonly seq: number;
  readonly tallies: Buffer;
}

interface Waiting {
  readonly mergedTo: number;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Writes the tallies. What a batch counted goes into its last group of contents (attempt-contents.ts): the tallies of its
 * endpoints lie far apart, and would dirty a page each. When enough batches wait, they are merged into the tallies together.
 */
export class TallyRows implements LogTallies {
  readonly #batch = new Tallies();
  readonly #pending;
  readonly #deltas;
  readonly #setMergedTo;
  readonly #read;
  readonly #write;
  readonly #delete;
  /** The last group of contents whose tallies are merged. */
  #mergedTo = 0;
  /** The values that are not merged yet. */
  #rows = 0;
  #bytes = 0;

  constructor(db: Database) {
    const waiting = `FROM attempt_content WHERE seq > (${TALLIED_TO}) AND tallies IS NOT NULL`;
    this.#pending = db.prepare(
      `SELECT (${TALLIED_TO}) AS mergedTo, count(*) AS rows, coalesce(sum(length(tallies)), 0) AS bytes ${waiting}`,
    );
    this.#deltas = db.prepare(`SELECT seq, tallies ${waiting} ORDER BY seq`);
    this.#setMergedTo = db.prepare("UPDATE meta SET value = ? WHERE name = 'attempts_tallied_to'");
    this.#read = db.prepare('SELECT cells FROM tally WHERE endpoint = ? AND created_at = ?').pluck();
    this.#write = db.prepare('INSERT OR REPLACE INTO tally VALUES (?, ?, ?)');
    this.#delete = db.prepare(
      `DELETE FROM tally WHERE endpoint = ? AND created_at IN (
         SELECT created_at FROM tally WHERE endpoint = ? AND created_at <= ? ORDER BY created_at LIMIT ?)`,
    );
    this.#count();
  }

  get mergedTo(): number {
    return this.#mergedTo;
  }

  count(attempt: TalliedAttempt): void {
    this.#batch.count(attempt);
  }

  /** Returns what the batch has counted, which is written with its last group of contents; null: nothing. */
  take(): EncodedTallies | null {
    if (this.#batch.isEmpty) return null;
    const encoded = this.#batch.encode();
    this.#batch.clear();
    this.#rows += 1;
    this.#bytes += encoded.bytes.length;
    return encoded;
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

  /** Merges what this group of contents may have: it is about to be deleted. */
  mergeBeforeDeleting(content: number): void {
    if (content > this.#mergedTo) this.merge();
  }

  merge(): void {
    if (this.#rows === 0) return;
    const all = new Tallies();
    for (const { seq, tallies } of this.#deltas.all() as Delta[]) {
      all.add(tallies);
      this.#mergedTo = seq;
    }
    for (const { endpoint, createdAt, cells } of all.list) {
      const stored = this.#read.get(endpoint, createdAt) as Buffer | undefined;
      if (stored) addCells(cells, stored);
      this.#write.run(endpoint, createdAt, encodeCells(cells));
    }
    this.#setMergedTo.run(this.#mergedTo);
    this.#rows = 0;
    this.#bytes = 0;
  }

  rolledBack(): void {
    this.#batch.clear();
    this.#count();
  }

  #count(): void {
    const { mergedTo, rows, bytes } = this.#pending.get() as Waiting;
    this.#mergedTo = mergedTo;
    this.#rows = rows;
    this.#bytes = bytes;
  }
}
