import type { Database, Statement } from 'better-sqlite3';
import { packId, unpackId } from './codes.ts';

/** Rows whose ids are held in memory before they go into the index together. */
const GENERATION = 32_768;
/** Rows of the closed generation written per row that came in: it is always done before the next one is full. */
const PACE = 2;

interface Generation {
  readonly rows: Map<string, number>;
  /** Its keys in the index's order; for UUIDs the text sorts as the 16 bytes do. */
  readonly order: readonly string[];
  readonly highest: number;
  written: number;
}

/**
 * Finds a row by its random id. Random keys put into an index one by one dirty a page each, and that was the largest
 * part of what a delivery cost. So the newest ids wait in memory (they are in their rows, so nothing is lost) and go
 * into the index by the thousand and in key order, many to a page. `…_indexed_to` in meta says up to which row the
 * index is complete; after a crash the rest is read from the rows again.
 *
 * States of an id: open generation → closed generation (being written, smallest first) → index only.
 */
export class IdIndex {
  #open = new Map<string, number>();
  #closed: Generation | null = null;
  /** Ids added since the last commit, to be taken back when it fails. */
  #added: string[] = [];
  /** Likewise what was removed. */
  #removed: [key: string, seq: number][] = [];
  readonly #table: 'event' | 'delivery';
  readonly #find: Statement;
  readonly #insert: Statement;
  readonly #remove: Statement;
  readonly #setIndexedTo: Statement;
  #writtenAtCommit = 0;

  constructor(db: Database, table: 'event' | 'delivery') {
    this.#table = table;
    const isScoped = table === 'event';
    const by = isScoped ? 'event_id = ? AND merchant = ?' : 'delivery_id = ?';
    this.#find = db.prepare(`SELECT ${table} FROM ${table}_by_id WHERE ${by}`).pluck();
    this.#insert = db.prepare(`INSERT OR REPLACE INTO ${table}_by_id VALUES (?, ?${isScoped ? ', ?' : ''})`);
    this.#remove = db.prepare(`DELETE FROM ${table}_by_id WHERE ${by}`);
    this.#setIndexedTo = db.prepare(`UPDATE meta SET value = ? WHERE name = '${table}_indexed_to'`);
    this.#readUnindexed(db);
  }

  /** The row with this key, written or not. */
  find(key: string): number | undefined {
    const recent = this.findRecent(key);
    if (recent !== undefined) return recent;
    return this.#find.get(...this.#columns(key)) as number | undefined;
  }

  /** The row with this key if it may be missing in the index. */
  findRecent(key: string): number | undefined {
    return this.#open.get(key) ?? this.#closed?.rows.get(key);
  }

  add(key: string, seq: number): void {
    this.#open.set(key, seq);
    this.#added.push(key);
  }

  remove(key: string): void {
    const recent = this.findRecent(key);
    if (recent !== undefined) this.#removed.push([key, recent]);
    this.#open.delete(key);
    this.#closed?.rows.delete(key);
    this.#remove.run(...this.#columns(key));
  }

  /** Writes some of the closed generation. Called inside the transaction that added rows, last. */
  write(): void {
    if (this.#closed === null) {
      if (this.#open.size < GENERATION) return;
      let highest = 0;
      for (const seq of this.#open.values()) if (seq > highest) highest = seq;
      this.#closed = { rows: this.#open, order: [...this.#open.keys()].sort(), highest, written: 0 };
      this.#open = new Map();
      this.#writtenAtCommit = 0;
    }
    const closed = this.#closed;
    const end = Math.min(closed.order.length, closed.written + Math.max(1, this.#added.length) * PACE);
    for (; closed.written < end; closed.written += 1) {
      const key = closed.order[closed.written] ?? '';
      const seq = closed.rows.get(key);
      if (seq !== undefined) this.#insert.run(...this.#columns(key), seq);
    }
    if (closed.written === closed.order.length) this.#setIndexedTo.run(closed.highest);
  }

  /** What was added and written since the last call is durable. */
  committed(): void {
    if (this.#added.length > 0) this.#added = [];
    if (this.#removed.length > 0) this.#removed = [];
    const closed = this.#closed;
    if (!closed) return;
    this.#writtenAtCommit = closed.written;
    if (closed.written === closed.order.length) this.#closed = null;
  }

  /** What was added and written since the last commit is not in the file. */
  rolledBack(): void {
    for (const key of this.#added) {
      this.#open.delete(key);
      this.#closed?.rows.delete(key);
    }
    this.#added = [];
    // Into the open generation, whichever it was in: to be written twice does no harm.
    for (const [key, seq] of this.#removed) this.#open.set(key, seq);
    this.#removed = [];
    if (this.#closed) this.#closed.written = this.#writtenAtCommit;
  }

  /** After a start: what a process before this one had not written yet. */
  #readUnindexed(db: Database): void {
    const isScoped = this.#table === 'event';
    const rows = db
      .prepare(
        `SELECT seq, ${this.#table}_id AS id, ${isScoped ? 'merchant' : 'NULL'} AS merchant FROM ${this.#table}
         WHERE seq > (SELECT value FROM meta WHERE name = '${this.#table}_indexed_to')`,
      )
      .iterate() as IterableIterator<{ seq: number; id: Uint8Array | string; merchant: number | null }>;
    for (const { seq, id, merchant } of rows) {
      const text = unpackId(id);
      this.#open.set(merchant === null ? text : eventKey(text, merchant), seq);
    }
  }

  #columns(key: string): (Buffer | string | number)[] {
    if (this.#table === 'delivery') return [packId(key)];
    const space = key.lastIndexOf(' ');
    return [packId(key.slice(0, space)), Number(key.slice(space + 1))];
  }
}

/** An event is one merchant's: two merchants' events with one id never meet. */
export function eventKey(eventId: string, merchant: number): string {
  return `${eventId} ${merchant}`;
}
