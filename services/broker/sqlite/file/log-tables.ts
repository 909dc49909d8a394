import type Database from 'better-sqlite3';
import { pack } from './packing.ts';
import { STREAMS } from './wire.ts';

/** A batch row: consecutive records of one stream that were committed together. */
export interface BatchRow {
  readonly stream: number;
  /** The position of its first record. */
  readonly first: number;
  readonly count: number;
  readonly at: number;
  /** The number of the schema that its records were written with. */
  readonly schema: number;
  readonly bytes: Uint8Array;
  /** Bit i = record i is done. */
  done: Uint8Array | null;
}

/** The tables of batch rows: of those that are large, and of those that stay open for long. */
export class LogTables {
  readonly #append: readonly Database.Statement[];
  readonly #delete: readonly Database.Statement[];
  readonly #deleteUpTo: readonly Database.Statement[];
  readonly #doneSave: Database.Statement;
  readonly #doneDelete: Database.Statement;

  constructor(db: Database.Database) {
    const each = (sql: (table: string) => string) =>
      STREAMS.map((stream) => db.prepare(sql(`log_${stream}`)));
    this.#append = each((table) => `INSERT INTO ${table} VALUES (?, ?, ?, ?, ?, ?)`);
    this.#delete = each((table) => `DELETE FROM ${table} WHERE first = ?`);
    this.#deleteUpTo = each((table) => `DELETE FROM ${table} WHERE first <= ? AND first + count - 1 <= ?`);
    this.#doneSave = db.prepare(
      'INSERT INTO log_done VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET bits = excluded.bits',
    );
    this.#doneDelete = db.prepare('DELETE FROM log_done WHERE stream = ? AND first = ?');
  }

  /** Returns the bytes that the row takes. */
  append({ stream, first, count, at, schema, bytes, done }: BatchRow): number {
    const { blob, packed } = pack(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.#append[stream]?.run(first, count, at, schema, blob, packed);
    if (done) this.#doneSave.run(stream, first, done);
    return blob.length;
  }

  /** Marks records of a row as done. `bits`: null = all of them, so that the row goes. */
  done(stream: number, first: number, bits: Uint8Array | null): void {
    if (bits) {
      this.#doneSave.run(stream, first, bits);
      return;
    }
    this.#delete[stream]?.run(first);
    this.#doneDelete.run(stream, first);
  }

  /** Deletes the rows that end at or before `last`. */
  doneUpTo(stream: number, last: number): void {
    this.#deleteUpTo[stream]?.run(last, last);
  }
}
