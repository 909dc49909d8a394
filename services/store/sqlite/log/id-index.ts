import type { Database } from 'better-sqlite3';
import { packId, unpackId } from '../../../sqlite/ids.ts';

/** Rows whose ids are held in memory before they go into the index together. */
const GENERATION = 32_768;

const NO_IDS: ReadonlyMap<string, number> = new Map();

/**
 * Finds a row by its random id. Inserting random keys into an index one by one dirties a page each, which was the
 * largest part of a delivery's cost. So the newest ids wait in memory (they are in their rows, so nothing
 * is lost) and go into the index by the thousand and in key order, many to a page. `…_indexed_to` in meta
 * is the row up to which the index is complete; after a crash the rest is read from the rows again.
 *
 * An id is unique within its scope: the merchant of an event (so two merchants' events with one id never
 * meet), 0 for deliveries.
 */
export class IdIndex {
  /** Scope → id → row, for rows that the index does not have. */
  readonly #recent = new Map<number, Map<string, number>>();
  #recentCount = 0;
  #highest = 0;
  /** The current transaction puts everything recent into the index. */
  #isWriting = false;
  /** Recent ids added and removed by the current transaction, to be undone if it fails. */
  #added: [scope: number, id: string][] = [];
  #removed: [scope: number, id: string, seq: number][] = [];
  readonly #find;
  readonly #write;
  readonly #remove;
  readonly #setIndexedTo;

  constructor(db: Database, table: 'event' | 'delivery') {
    const scope = table === 'event' ? 'merchant' : '0';
    const by = `${table}_id = ? AND ${scope} = ?`;
    const above = `(SELECT value FROM meta WHERE name = '${table}_indexed_to')`;
    const columns = table === 'event' ? 'event_id, merchant, seq' : 'delivery_id, seq';
    this.#find = db.prepare(`SELECT ${table} FROM ${table}_by_id WHERE ${by}`).pluck();
    this.#remove = db.prepare(`DELETE FROM ${table}_by_id WHERE ${by}`);
    this.#write = db.prepare(
      `INSERT OR REPLACE INTO ${table}_by_id SELECT ${columns} FROM ${table} WHERE seq > ${above} ORDER BY
       ${table}_id`,
    );
    this.#setIndexedTo = db.prepare(`UPDATE meta SET value = ? WHERE name = '${table}_indexed_to'`);
    const unindexed = db.prepare(
      `SELECT seq, ${table}_id AS id, ${scope} AS scope FROM ${table} WHERE seq > ${above}`,
    );
    for (const row of unindexed.iterate() as IterableIterator<UnindexedRow>) {
      this.#remember(row.scope, unpackId(row.id), row.seq);
    }
  }

  /** Returns the row with this id, in the index or not. */
  find(scope: number, id: string): number | undefined {
    return this.findRecent(scope, id) ?? (this.#find.get(packId(id), scope) as number | undefined);
  }

  /** Returns the row with this id if the index does not have it. */
  findRecent(scope: number, id: string): number | undefined {
    return (this.#recent.get(scope) ?? NO_IDS).get(id);
  }

  /** Returns the rows with this id in any scope that the index does not have. */
  findRecentAny(id: string): number[] {
    const found: number[] = [];
    for (const ids of this.#recent.values()) {
      const seq = ids.get(id);
      if (seq !== undefined) found.push(seq);
    }
    return found;
  }

  add(scope: number, id: string, seq: number): void {
    this.#remember(scope, id, seq);
    this.#added.push([scope, id]);
  }

  remove(scope: number, id: string): void {
    const seq = this.findRecent(scope, id);
    if (seq === undefined) {
      this.#remove.run(packId(id), scope);
      return;
    }
    this.#forget(scope, id);
    this.#removed.push([scope, id, seq]);
  }

  /**
   * Puts the recent rows into the index when there are enough. Called in a transaction, after its rows were
   * added.
   */
  write(): void {
    if (this.#recentCount < GENERATION) return;
    this.#write.run();
    this.#setIndexedTo.run(this.#highest);
    this.#isWriting = true;
  }

  /** Everything since the last call is durable. */
  committed(): void {
    if (this.#added.length > 0) this.#added = [];
    if (this.#removed.length > 0) this.#removed = [];
    if (!this.#isWriting) return;
    this.#isWriting = false;
    this.#recent.clear();
    this.#recentCount = 0;
  }

  /** Nothing since the last commit is in the file. */
  rolledBack(): void {
    this.#isWriting = false;
    for (const [scope, id] of this.#added) this.#forget(scope, id);
    for (const [scope, id, seq] of this.#removed) this.#remember(scope, id, seq);
    this.#added = [];
    this.#removed = [];
  }

  #remember(scope: number, id: string, seq: number): void {
    const ids = this.#recent.get(scope);
    if (ids) ids.set(id, seq);
    else this.#recent.set(scope, new Map([[id, seq]]));
    this.#recentCount += 1;
    if (seq > this.#highest) this.#highest = seq;
  }

  #forget(scope: number, id: string): void {
    if (this.#recent.get(scope)?.delete(id)) this.#recentCount -= 1;
  }
}

interface UnindexedRow {
  readonly seq: number;
  readonly id: Uint8Array | string;
  readonly scope: number;
}
