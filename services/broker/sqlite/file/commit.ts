import type Database from 'better-sqlite3';
import { PAGE_BYTES } from '../../../sqlite/database.ts';
import { FRESH, SeenEvents } from '../seen-events.ts';
import { OperationReader } from './operation-reader.ts';
import { pack } from './packing.ts';
import {
  type CommitHalfMessage,
  type CommitReply,
  EVENTS,
  kindOf,
  OPERATION,
  RECORD_KINDS,
  type RecordKind,
  type Request,
  ROW_FIELDS,
  STREAMS,
} from './wire.ts';

/**
 * The fewest pages of a commit: those of the rows' tables, of positions and of recent events, however little it holds.
 */
const PAGES_PER_COMMIT = 6;

type Commit = Extract<Request, { kind: 'commit' }>;

/**
 * Writes commits: both halves of one in a single transaction. Runs in the thread that owns the file. Positions and ids
 * are assigned here, in the transaction: a failed commit leaves no gap.
 */
export class Committer {
  readonly #db: Database.Database;
  readonly #schema: (kind: RecordKind) => number;
  readonly #append: readonly Database.Statement[];
  readonly #rowDelete: readonly Database.Statement[];
  readonly #rowsDelete: readonly Database.Statement[];
  readonly #statements: ReturnType<typeof prepare>;
  readonly #seen: SeenEvents;
  /** The next position per stream and the next id of a delayed task, as of the last commit. */
  #next: number[];
  #delayedNext: number;
  /** As stored in the file: see `moveDueTimes`. */
  #setBy = 0;
  /** Bytes written since the last checkpoint, about. */
  bytesInWal = 0;

  constructor(db: Database.Database, schemaIds: readonly number[]) {
    this.#db = db;
    this.#schema = (kind) => schemaIds[RECORD_KINDS.indexOf(kind)] ?? 0;
    this.#append = STREAMS.map((stream) => db.prepare(`INSERT INTO log_${stream} VALUES (?, ?, ?, ?, ?, ?)`));
    this.#rowDelete = STREAMS.map((stream) => db.prepare(`DELETE FROM log_${stream} WHERE first = ?`));
    this.#rowsDelete = STREAMS.map((stream) =>
      db.prepare(`DELETE FROM log_${stream} WHERE first <= ? AND first + count - 1 <= ?`),
    );
    this.#statements = prepare(db);
    this.#seen = new SeenEvents(db);
    const next = db.prepare<[number], number>('SELECT next FROM position WHERE stream = ?').pluck();
    this.#next = STREAMS.map((_, stream) => next.get(stream) ?? 0);
    this.#delayedNext = next.get(STREAMS.length) ?? 0;
  }

  /** Applies a commit. Throws SqliteError when it fails; then nothing of it is kept. */
  commit(request: Commit): Omit<CommitReply, 'spare'> {
    const work = new CommitProgress(this.#next.slice(), this.#delayedNext, request.at);
    this.#statements.begin.run();
    try {
      this.#apply(request.settlements, work);
      if (this.#areNew(request.publications, work)) this.#apply(request.publications, work);
      this.#savePositions(work);
      const setBy = request.setBy + work.forwardMs;
      if (setBy !== this.#setBy) this.#statements.setBySave.run(String(setBy));
      this.#seen.save(work.at);
      this.#statements.commit.run();
    } catch (error) {
      // Some errors roll back by themselves.
      if (this.#db.inTransaction) this.#statements.rollback.run();
      if (work.hasChecked) this.#seen.rolledBack();
      throw error;
    }
    this.bytesInWal += PAGES_PER_COMMIT * PAGE_BYTES;
    this.#setBy = request.setBy + work.forwardMs;
    const delayedFirst = this.#delayedNext;
    this.#next = work.next;
    this.#delayedNext = work.delayedNext;
    const { firsts, repeats, refused, stale } = work;
    return { kind: 'committed', firsts: Float64Array.from(firsts), delayedFirst, repeats, refused, stale };
  }

  #apply(half: CommitHalfMessage, work: CommitProgress): void {
    for (let at = 0; at < half.rows.length; at += ROW_FIELDS) {
      const [stream, offset, length, count, checked] = half.rows.subarray(at, at + ROW_FIELDS) as unknown as [
        number,
        number,
        number,
        number,
        number,
      ];
      const buffer = half.streams[stream];
      if (!buffer) throw new Error(`a batch row of ${STREAMS[stream]} came without its bytes`);
      const fresh = checked ? this.#recordSeen(half, buffer, offset, count, work) : count;
      work.firsts.push(fresh === 0 ? -1 : (work.next[stream] ?? 0));
      if (fresh === 0) continue;
      const schema = this.#schema(kindOf(stream));
      const { blob, packed } = pack(Buffer.from(buffer, offset, length));
      this.#append[stream]?.run(work.next[stream], count, work.at, schema, blob, packed);
      work.next[stream] = (work.next[stream] ?? 0) + count;
      this.bytesInWal += blob.length;
    }
    this.#operations(half, work);
  }

  /** Returns whether all events whose results are in the half are new; then they are remembered. */
  #areNew({ routed, routedEnds }: CommitHalfMessage, work: CommitProgress): boolean {
    if (!routed) return true;
    work.hasChecked = true;
    const bytes = Buffer.from(routed);
    let start = 0;
    for (const [index, end] of routedEnds.entries()) {
      const seen = this.#seen.check(bytes.subarray(start, end));
      if (seen !== FRESH) work.refused.push(index, seen);
      start = end;
    }
    if (work.refused.length > 0) this.#seen.forgetFresh();
    return work.refused.length === 0;
  }

  /** Recognises repeated events. Returns how many are new. The repeated ones stay in the row, marked as done. */
  #recordSeen(
    half: CommitHalfMessage,
    buffer: ArrayBuffer,
    offset: number,
    count: number,
    work: CommitProgress,
  ): number {
    work.hasChecked = true;
    const bytes = Buffer.from(buffer);
    const known: number[] = [];
    let start = offset;
    for (let index = 0; index < count; index += 1) {
      const at = 2 * (work.eventsChecked + index);
      const content = bytes.subarray(start, half.eventEnds[at] ?? start);
      start = half.eventEnds[at + 1] ?? start;
      const seen = this.#seen.check(content);
      if (seen === FRESH) continue;
      known.push(index);
      work.repeats.push(work.eventsChecked + index, seen);
    }
    work.eventsChecked += count;
    if (known.length > 0 && known.length < count) {
      const bits = new Uint8Array(Math.ceil(count / 8));
      for (const index of known) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
      this.#statements.rowDone.run(EVENTS, work.next[EVENTS], bits);
    }
    return count - known.length;
  }

  #operations(half: CommitHalfMessage, work: CommitProgress): void {
    const { operationsBytes } = half;
    const reader = new OperationReader(half.operations);
    const on = this.#statements;
    while (reader.position < operationsBytes) {
      const kind = reader.u8();
      switch (kind) {
        case OPERATION.rowDelete: {
          const stream = reader.f64();
          const first = reader.f64();
          this.#rowDelete[stream]?.run(first);
          on.doneDelete.run(stream, first);
          break;
        }
        case OPERATION.rowDone:
          on.rowDone.run(reader.f64(), reader.f64(), reader.bytes());
          break;
        case OPERATION.rowsDeleteUpTo: {
          const stream = reader.f64();
          const last = reader.f64();
          this.#rowsDelete[stream]?.run(last, last);
          break;
        }
        case OPERATION.delayedInsert:
          on.delayedInsert.run(
            work.delayedNext++,
            reader.f64(),
            reader.f64(),
            this.#schema('task'),
            reader.bytes(),
          );
          break;
        case OPERATION.delayedDelete:
          on.delayedDelete.run(reader.f64());
          break;
        case OPERATION.directoryPut: {
          const version = reader.f64();
          const key = reader.bytes().toString();
          const put = on.directoryPut.run(key, version, this.#schema('directory'), reader.bytes());
          if (put.changes === 0) work.stale.push(work.directoryChanges);
          work.directoryChanges += 1;
          break;
        }
        case OPERATION.deadLetterInsert:
          on.deadLetterInsert.run(this.#schema('deadLetter'), reader.bytes());
          break;
        case OPERATION.quarantineInsert:
          on.quarantineInsert.run(this.#schema('quarantined'), reader.bytes());
          break;
        case OPERATION.quarantineDelete:
          on.quarantineDelete.run(reader.f64());
          break;
        case OPERATION.deadLetterDelete:
          on.deadLetterDelete.run(reader.f64());
          break;
        case OPERATION.probe:
          on.probe.run(String(reader.f64()));
          break;
        case OPERATION.bringForward: {
          const ms = reader.f64();
          on.bringForward.run(ms);
          work.forwardMs += ms;
          break;
        }
        default:
          throw new Error(`unknown operation ${kind}`);
      }
    }
    this.bytesInWal += operationsBytes;
  }

  #savePositions(work: CommitProgress): void {
    const { positionSave } = this.#statements;
    for (const [stream, next] of work.next.entries()) {
      if (next !== this.#next[stream]) positionSave.run(stream, next);
    }
    if (work.delayedNext !== this.#delayedNext) positionSave.run(STREAMS.length, work.delayedNext);
  }
}

/** The assigned numbers and the findings of one commit. */
class CommitProgress {
  readonly next: number[];
  delayedNext: number;
  readonly at: number;
  readonly firsts: number[] = [];
  readonly repeats: number[] = [];
  readonly refused: number[] = [];
  readonly stale: number[] = [];
  eventsChecked = 0;
  /** Ids may have been remembered: they are forgotten when the commit fails. */
  hasChecked = false;
  directoryChanges = 0;
  /** By how much the sandbox's clock is moved on: from this commit on, the wall clock is ahead by that. */
  forwardMs = 0;

  constructor(next: number[], delayedNext: number, at: number) {
    this.next = next;
    this.delayedNext = delayedNext;
    this.at = at;
  }
}

function prepare(db: Database.Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    positionSave: db.prepare(
      'INSERT INTO position VALUES (?, ?) ON CONFLICT DO UPDATE SET next = excluded.next',
    ),
    rowDone: db.prepare(
      'INSERT INTO log_done VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET bits = excluded.bits',
    ),
    doneDelete: db.prepare('DELETE FROM log_done WHERE stream = ? AND first = ?'),
    setBySave: db.prepare(
      "INSERT INTO meta VALUES ('set_by', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    ),
    delayedInsert: db.prepare('INSERT INTO delayed VALUES (?, ?, ?, ?, ?)'),
    delayedDelete: db.prepare('DELETE FROM delayed WHERE id = ?'),
    directoryPut: db.prepare(
      `INSERT INTO directory VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET version = excluded.version, schema = excluded.schema, blob = excluded.blob
       WHERE excluded.version > version`,
    ),
    deadLetterInsert: db.prepare('INSERT INTO dead_letter(schema, blob) VALUES (?, ?)'),
    quarantineInsert: db.prepare('INSERT INTO quarantine(schema, blob) VALUES (?, ?)'),
    quarantineDelete: db.prepare('DELETE FROM quarantine WHERE id = ?'),
    deadLetterDelete: db.prepare('DELETE FROM dead_letter WHERE id = ?'),
    bringForward: db.prepare('UPDATE delayed SET due = due - ?'),
    probe: db.prepare(
      "INSERT INTO meta VALUES ('probe', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    ),
  };
}
