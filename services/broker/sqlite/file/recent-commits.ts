import type Database from 'better-sqlite3';
import { ByteWriter } from '../../../codec/byte-writer.ts';
import { writeBytes } from './half-form.ts';
import { type BatchRow, LogTables } from './log-tables.ts';
import { OperationReader } from './operation-reader.ts';
import { OPERATION, STREAMS } from './wire.ts';

/** A slot is written again after this many commits: at 200 a second most of what it held is done by then. */
const SLOTS = 128;
/**
 * Two pages of SQLite. All slots have the same length, so that SQLite writes over them in place: the first page only, if
 * the second one stays empty.
 */
const SLOT_BYTES = 8148;
/** Where each stream and the delayed tasks go on, and the highest sequence of an event. */
const POSITIONS = STREAMS.length + 2;
/** Content length u32, number of the commit f64, positions f64 each. */
const HEADER_BYTES = 4 + 8 + 8 * POSITIONS;
/** The ids of this many commits move together into one row of `seen_recent`. */
const IDS_LEAVE_TOGETHER = 64;

/** In a slot beside OPERATION's marks: stream, first, count, at, schema f64 each, bytes, bytes: the done bits. */
const ROW = 101;
const ROW_HEAD_BYTES = 1 + 5 * 8 + 4 + 4;
/** bytes: ids of events, in the form of `seen_recent`. */
const SEEN = 102;
const SEEN_HEAD_BYTES = 1 + 4;

interface Commit {
  readonly rows: readonly BatchRow[];
  seen: Uint8Array | null;
}

/**
 * The last commits, each as one row of a table that is a ring: batch rows that fit, what they finish of earlier ones,
 * the ids of their events, and where each stream goes on. So a commit of few records writes one page, not one per table.
 * A batch row that is still open when its slot is written again moves to the tables. A copy of all slots is
 * kept in memory: the file is read only when it is opened and after a failed commit.
 */
export class RecentCommits {
  /** The tables of rows that are in no slot. */
  readonly tables: LogTables;
  readonly #all: Database.Statement<[], Buffer>;
  readonly #put: Database.Statement;
  readonly #deleteAll: Database.Statement;
  readonly #savePosition: Database.Statement;
  readonly #saveIds: Database.Statement;
  readonly #slot = Buffer.from(new ArrayBuffer(SLOT_BYTES));
  /** By slot. */
  readonly #commits = new Map<number, Commit>();
  /** Rows with unfinished records by stream, in the order of their positions. */
  readonly #open = STREAMS.map(() => new Map<number, BatchRow>());
  /** The number of the next commit. */
  #seq = 0;
  /** The rows and the marks of the next commit. */
  #added: BatchRow[] = [];
  readonly #marks = new ByteWriter();
  /** The numbers that `write` was given by the last commit; null: the table of positions has them. */
  positions: readonly number[] | null = null;

  constructor(db: Database.Database) {
    this.tables = new LogTables(db);
    this.#all = db.prepare<[], Buffer>('SELECT content FROM recent_commit').pluck();
    this.#put = db.prepare(
      'INSERT INTO recent_commit VALUES (?, ?) ON CONFLICT DO UPDATE SET content = excluded.content',
    );
    this.#deleteAll = db.prepare('DELETE FROM recent_commit');
    this.#savePosition = db.prepare(
      'INSERT INTO position VALUES (?, ?) ON CONFLICT DO UPDATE SET next = excluded.next',
    );
    this.#saveIds = db.prepare('INSERT INTO seen_recent(ids) VALUES (?)');
    this.load();
  }

  /** Reads the file again: nothing of a commit that failed is kept. */
  load(): void {
    this.#begin();
    this.#commits.clear();
    for (const open of this.#open) open.clear();
    this.positions = null;
    const slots = this.#all.all().map((slot) => ({ slot, seq: slot.readDoubleLE(4) }));
    for (const { slot, seq } of slots.sort((a, b) => a.seq - b.seq)) {
      this.#commits.set(seq % SLOTS, this.#replay(slot));
      this.positions = Array.from({ length: POSITIONS }, (_, index) => slot.readDoubleLE(12 + 8 * index));
      this.#seq = seq + 1;
    }
  }

  /** The ids of events that are in no table yet, in the form of `seen_recent`. */
  *seenIds(): Iterable<Uint8Array> {
    for (const { seen } of this.#commits.values()) if (seen) yield seen;
  }

  /** Returns the unfinished rows of a stream that are in no table, from a position on. */
  rows(stream: number, from = 0): BatchRow[] {
    return [...(this.#open[stream]?.values() ?? [])].filter(({ first }) => first >= from);
  }

  /** Adds a batch row to the next commit. */
  add(row: BatchRow): void {
    this.#added.push(row);
    this.#open[row.stream]?.set(row.first, row);
  }

  /** Marks records of a row as done, with the next commit; as LogTables.done. Returns false for a row of the tables. */
  done(stream: number, first: number, bits: Uint8Array | null): boolean {
    const row = this.#open[stream]?.get(first);
    if (!row) return false;
    this.#marks.u8(bits ? OPERATION.rowDone : OPERATION.rowDelete);
    this.#marks.f64(stream);
    this.#marks.f64(first);
    if (bits) writeBytes(this.#marks, bits);
    this.#finish(row, bits);
    return true;
  }

  /** Marks rows as done that end at or before `last`, with the next commit. */
  doneUpTo(stream: number, last: number): void {
    if (!this.#finishUpTo(stream, last)) return;
    this.#marks.u8(OPERATION.rowsDeleteUpTo);
    this.#marks.f64(stream);
    this.#marks.f64(last);
  }

  /**
   * Writes the commit within the caller's transaction. `positions`: where the streams and the delayed tasks go on, and
   * the highest sequence. `seen`: the ids of its events.
   */
  write(positions: readonly number[], seen: Uint8Array): void {
    this.#leave();
    if (HEADER_BYTES + this.#marks.length > SLOT_BYTES) this.clear(positions);
    let room = SLOT_BYTES - HEADER_BYTES - this.#marks.length;
    const hasIds = seen.length > 0 && seen.length + SEEN_HEAD_BYTES <= room;
    if (hasIds) room -= seen.length + SEEN_HEAD_BYTES;
    else this.#keepIds([seen]);
    const rows: BatchRow[] = [];
    for (const row of this.#added) {
      const bytes = ROW_HEAD_BYTES + row.bytes.length + (row.done?.length ?? 0);
      if (bytes > room) this.#spill(row);
      else {
        room -= bytes;
        // A copy: the buffer goes back to the main thread.
        rows.push({ ...row, bytes: new Uint8Array(row.bytes) });
      }
    }
    for (const row of rows) this.#open[row.stream]?.set(row.first, row);
    const ids = hasIds ? new Uint8Array(seen) : null;
    this.#put.run(this.#seq % SLOTS, this.#encode(positions, rows, ids));
    this.#commits.set(this.#seq % SLOTS, { rows, seen: ids });
    this.#seq += 1;
    this.positions = positions;
    this.#begin();
  }

  /** Empties all slots within the caller's transaction: what is still needed moves to the tables. */
  clear(positions = this.positions): void {
    this.#keepIds([...this.seenIds()]);
    for (const open of this.#open) for (const row of [...open.values()]) this.#spill(row);
    for (const [stream, next] of (positions ?? []).entries()) this.#savePosition.run(stream, next);
    this.#deleteAll.run();
    this.#commits.clear();
    this.positions = null;
    this.#begin();
  }

  #begin(): void {
    this.#added = [];
    this.#marks.truncate(0);
  }

  /** Makes room in the next slot. */
  #leave(): void {
    const slot = this.#seq % SLOTS;
    if (slot % IDS_LEAVE_TOGETHER === 0) this.#leaveIds(slot, slot + IDS_LEAVE_TOGETHER);
    for (const row of this.#commits.get(slot)?.rows ?? []) {
      if (this.#open[row.stream]?.has(row.first)) this.#spill(row);
    }
  }

  #leaveIds(from: number, to: number): void {
    const leaving: Uint8Array[] = [];
    for (let slot = from; slot < to; slot += 1) {
      const commit = this.#commits.get(slot);
      if (!commit?.seen) continue;
      leaving.push(commit.seen);
      commit.seen = null;
    }
    this.#keepIds(leaving);
  }

  #keepIds(ids: readonly Uint8Array[]): void {
    const all = Buffer.concat(ids);
    if (all.length > 0) this.#saveIds.run(all);
  }

  #spill(row: BatchRow): void {
    this.tables.append(row);
    this.#open[row.stream]?.delete(row.first);
  }

  #finish(row: BatchRow, bits: Uint8Array | null): void {
    if (bits) row.done = new Uint8Array(bits);
    else this.#open[row.stream]?.delete(row.first);
  }

  /** Returns whether there were any. */
  #finishUpTo(stream: number, last: number): boolean {
    let isAny = false;
    for (const row of this.#open[stream]?.values() ?? []) {
      if (row.first + row.count - 1 > last) break;
      this.#finish(row, null);
      isAny = true;
    }
    return isAny;
  }

  #encode(positions: readonly number[], rows: readonly BatchRow[], seen: Uint8Array | null): Buffer {
    const parts = new ByteWriter(this.#slot.buffer);
    parts.u32(0);
    parts.f64(this.#seq);
    for (const position of positions) parts.f64(position);
    parts.bytes(this.#marks.written);
    if (seen) {
      parts.u8(SEEN);
      writeBytes(parts, seen);
    }
    for (const { stream, first, count, at, schema, bytes, done } of rows) {
      parts.u8(ROW);
      for (const number of [stream, first, count, at, schema]) parts.f64(number);
      writeBytes(parts, bytes);
      writeBytes(parts, done ?? new Uint8Array());
    }
    parts.patchU32(0, parts.length);
    return this.#slot.fill(0, parts.length);
  }

  #replay(slot: Buffer): Commit {
    const rows: BatchRow[] = [];
    let seen: Uint8Array | null = null;
    const reader = new OperationReader(slot);
    const end = slot.readUInt32LE(0);
    reader.position = HEADER_BYTES;
    while (reader.position < end) {
      const kind = reader.u8();
      if (kind === SEEN) seen = new Uint8Array(reader.bytes());
      else if (kind === ROW) {
        const row = readRow(reader);
        rows.push(row);
        this.#open[row.stream]?.set(row.first, row);
      } else if (kind === OPERATION.rowsDeleteUpTo) this.#finishUpTo(reader.f64(), reader.f64());
      else if (kind !== OPERATION.rowDelete && kind !== OPERATION.rowDone)
        throw new Error(`recent_commit has an unknown part ${kind}`);
      else {
        // Of a row that has moved to the tables: it is marked there.
        const row = this.#open[reader.f64()]?.get(reader.f64());
        const bits = kind === OPERATION.rowDone ? reader.bytes() : null;
        if (row) this.#finish(row, bits);
      }
    }
    return { rows, seen };
  }
}

function readRow(reader: OperationReader): BatchRow {
  const row = {
    ...{ stream: reader.f64(), first: reader.f64(), count: reader.f64(), at: reader.f64() },
    ...{ schema: reader.f64(), bytes: new Uint8Array(reader.bytes()) },
  };
  const done = new Uint8Array(reader.bytes());
  return { ...row, done: done.length === 0 ? null : done };
}
