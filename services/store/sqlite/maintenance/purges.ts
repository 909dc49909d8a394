import type { Database } from 'better-sqlite3';
import { PURGE_BYTES_MAX, purge, purgeAtStart } from '../../../sqlite/purge.ts';

/** Purges the file, and remembers in it whether that is still due. Runs in the thread that writes, outside of transactions. */
export class Purges {
  readonly #db: Database;
  readonly #isDue;
  readonly #setDue;

  constructor(db: Database) {
    this.#db = db;
    this.#isDue = db.prepare("SELECT value FROM meta WHERE name = 'purge_due'").pluck();
    this.#setDue = db.prepare("UPDATE meta SET value = ? WHERE name = 'purge_due' AND value <> ?");
  }

  /** Returns false when the file is too large. */
  run(bytesMax: number = PURGE_BYTES_MAX): boolean {
    const isWhole = purge(this.#db, bytesMax);
    const due = isWhole ? 0 : 1;
    this.#setDue.run(due, due);
    return isWhole;
  }

  /** Called at the start. */
  runIfDue(): void {
    if (this.#isDue.get() === 1) purgeAtStart(() => this.run());
  }
}
