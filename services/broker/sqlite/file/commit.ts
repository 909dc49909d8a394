import type Database from 'better-sqlite3';
import { PAGE_BYTES } from '../../../sqlite/database.ts';
import { FRESH, SeenEvents } from '../seen-events.ts';
import { openHalf } from './half-form.ts';
import { OperationReader } from './operation-reader.ts';
import type { RecentCommits } from './recent-commits.ts';
import {
  type CommitReply,
  kindOf,
  OPERATION,
  RECORD_KINDS,
  type RecordKind,
  type Request,
  STREAMS,
} from './wire.ts';

/** The most pages of a commit beside its large rows and operations: its slot, and rows that leave the one it replaces. */
const PAGES_PER_COMMIT = 4;

type Half = ReturnType<typeof openHalf>;
type Commit = Extract<Request, { kind: 'commit' }>;

/**
 * Writes commits: both halves of one in a single transaction. Runs in the thread that owns the file. Positions and ids
 * are assigned here, in the transaction: a failed commit leaves no gap.
 */
export class Committer {
  readonly #db: Database.Database;
  readonly #schema: (kind: RecordKind) => number;
  readonly #recent: RecentCommits;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #seen: SeenEvents;
  /** The next position per stream and the next id of a delayed task, as of the last commit. */
  #next: number[];
  #delayedNext: number;
  /** The highest sequence of an event, as of the last commit. */
  sequence: number;
  /** As stored in the file: see `moveDueTimes`. */
  #setBy = 0;
  /** Bytes written since the last checkpoint, about. */
  bytesInWal = 0;

  constructor(db: Database.Database, schemaIds: readonly number[], recent: RecentCommits) {
    this.#db = db;
    this.#schema = (kind) => schemaIds[RECORD_KINDS.indexOf(kind)] ?? 0;
    this.#recent = recent;
    this.#statements = prepare(db);
    this.#seen = new SeenEvents(db, recent);
    const saved = db.prepare<[number], number>('SELECT next FROM position WHERE stream = ?').pluck();
    const next = (stream: number) => recent.positions?.[stream] ?? saved.get(stream) ?? 0;
    this.#next = STREAMS.map((_, stream) => next(stream));
    this.#delayedNext = next(STREAMS.length);
    this.sequence = next(STREAMS.length + 1);
  }

  /** Applies a commit. Throws SqliteError when it fails; then nothing of it is kept. */
  commit(request: Commit): Omit<CommitReply, 'spare'> {
    const work = new CommitProgress(this.#next.slice(), this.#delayedNext, request.at);
    this.#statements.begin.run();
    try {
      this.#apply(openHalf(request.settlements), work);
      const publications = openHalf(request.publications);
      if (this.#areNew(publications, work)) this.#apply(publications, work);
      const setBy = request.setBy + work.forwardMs;
      if (setBy !== this.#setBy) this.#statements.setBySave.run(String(setBy));
      const fresh = this.#seen.takeFresh();
      this.#recent.write([...work.next, work.delayedNext, request.sequence], fresh);
      this.#seen.moveOn(fresh, work.at);
      this.#statements.commit.run();
    } catch (error) {
      this.#rollBack(work.hasChecked);
      throw error;
    }
    this.bytesInWal += PAGES_PER_COMMIT * PAGE_BYTES;
    this.#setBy = request.setBy + work.forwardMs;
    const delayedFirst = this.#delayedNext;
    this.#next = work.next;
    this.#delayedNext = work.delayedNext;
    this.sequence = request.sequence;
    const { firsts, repeats, refused, stale } = work;
    return { kind: 'committed', firsts, delayedFirst, repeats, refused, stale };
  }

  /** Empties the ring of recent commits, so that nothing is left in it of records that are done. Throws SqliteError. */
  clearRecent(): void {
    this.#statements.begin.run();
    try {
      this.#recent.clear();
      this.#statements.commit.run();
    } catch (error) {
      this.#rollBack(false);
      throw error;
    }
  }

  #rollBack(hasChecked: boolean): void {
    // Some errors roll back by themselves.
    if (this.#db.inTransaction) this.#statements.rollback.run();
    this.#recent.load();
    if (hasChecked) this.#seen.rolledBack();
  }

  #apply(half: Half, work: CommitProgress): void {
    for (const { stream, checked, count, bytes } of half.rows) {
      const known = checked ? this.#recordSeen(half, bytes, count, work) : [];
      const first = work.next[stream] ?? 0;
      work.firsts.push(known.length === count ? -1 : first);
      if (known.length === count) continue;
      const schema = this.#schema(kindOf(stream));
      this.#recent.add({
        ...{ stream, first, count, at: work.at, schema, bytes },
        done: bitsOf(known, count),
      });
      work.next[stream] = first + count;
      this.bytesInWal += bytes.length;
    }
    this.#operations(half.operations, work);
  }

  /** Returns whether all events whose results are in the half are new; then they are remembered. */
  #areNew({ routed, routedLengths }: Half, work: CommitProgress): boolean {
    if (routedLengths.length === 0) return true;
    work.hasChecked = true;
    let start = 0;
    for (const [index, length] of routedLengths.entries()) {
      const seen = this.#seen.check(routed.subarray(start, start + length));
      if (seen !== FRESH) work.refused.push(index, seen);
      start += length;
    }
    if (work.refused.length > 0) this.#seen.forgetFresh();
    return work.refused.length === 0;
  }

  #quarantine(reader: OperationReader): void {
    const id = () => reader.bytes().toString() || null;
    const schema = this.#schema('quarantined');
    this.#statements.quarantineInsert.run(id(), id(), id(), id(), schema, reader.bytes());
  }

  /** Returns which of these events are known, or come twice among them, in pairs as in a reply. Remembers none. */
  known({ events, lengths }: Extract<Request, { kind: 'knownEvents' }>): number[] {
    const bytes = Buffer.from(events.buffer, events.byteOffset, events.byteLength);
    const repeats: number[] = [];
    let start = 0;
    for (const [index, length] of lengths.entries()) {
      const seen = this.#seen.check(bytes.subarray(start, start + length));
      if (seen !== FRESH) repeats.push(index, seen);
      start += length;
    }
    // Between two commits none of a commit's own are among them.
    this.#seen.forgetFresh();
    return repeats;
  }

  /** Recognises repeated events. Returns their places in the row, in which they stay, marked as done. */
  #recordSeen({ eventLengths }: Half, bytes: Buffer, count: number, work: CommitProgress): number[] {
    work.hasChecked = true;
    const known: number[] = [];
    let start = 0;
    for (let index = 0; index < count; index += 1) {
      const at = 2 * (work.eventsChecked + index);
      const seen = this.#seen.check(bytes.subarray(start, start + (eventLengths[at] ?? 0)));
      start += eventLengths[at + 1] ?? 0;
      if (seen === FRESH) continue;
      known.push(index);
      work.repeats.push(work.eventsChecked + index, seen);
    }
    work.eventsChecked += count;
    return known;
  }

  #operations(operations: Buffer, work: CommitProgress): void {
    const reader = new OperationReader(operations);
    const on = this.#statements;
    while (reader.position < operations.length) {
      const kind = reader.u8();
      switch (kind) {
        case OPERATION.rowDelete:
          this.#rowDone(reader.f64(), reader.f64(), null);
          break;
        case OPERATION.rowDone:
          this.#rowDone(reader.f64(), reader.f64(), reader.bytes());
          break;
        case OPERATION.rowsDeleteUpTo: {
          const stream = reader.f64();
          const last = reader.f64();
          this.#recent.doneUpTo(stream, last);
          this.#recent.tables.doneUpTo(stream, last);
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
          this.#quarantine(reader);
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
    this.bytesInWal += operations.length;
  }

  #rowDone(stream: number, first: number, bits: Uint8Array | null): void {
    if (!this.#recent.done(stream, first, bits)) this.#recent.tables.done(stream, first, bits);
  }
}

/** Returns bits of which those in `places` are set; null when there are none. */
function bitsOf(places: readonly number[], count: number): Uint8Array | null {
  if (places.length === 0) return null;
  const bits = new Uint8Array(Math.ceil(count / 8));
  for (const index of places) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  return bits;
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
    quarantineInsert: db.prepare('INSERT INTO quarantine VALUES (NULL, ?, ?, ?, ?, ?, ?)'),
    quarantineDelete: db.prepare('DELETE FROM quarantine WHERE id = ?'),
    deadLetterDelete: db.prepare('DELETE FROM dead_letter WHERE id = ?'),
    bringForward: db.prepare('UPDATE delayed SET due = due - ?'),
    probe: db.prepare(
      "INSERT INTO meta VALUES ('probe', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    ),
  };
}
