import type Database from 'better-sqlite3';
import type { BatchRow } from './log-tables.ts';
import { unpack } from './packing.ts';
import type { RecentCommits } from './recent-commits.ts';
import {
  type OpenedFile,
  type RecordStoreTable,
  type Reply,
  type Request,
  STREAMS,
  type StoredDelayed,
  type StoredRecord,
  type StoredRow,
} from './wire.ts';

type Of<Kind extends Request['kind']> = Extract<Request, { kind: Kind }>;

/** Reads of the data file. Runs in the thread that owns it, between two commits. */
export class Reader {
  readonly #db: Database.Database;
  readonly #recent: RecentCommits;
  readonly #statements: ReturnType<typeof prepare>;
  /** Where forgetting continues: the table is walked in small steps. */
  #forgetFrom: Buffer = Buffer.alloc(0);

  constructor(db: Database.Database, recent: RecentCommits) {
    this.#db = db;
    this.#recent = recent;
    this.#statements = prepare(db);
  }

  /** Returns batch rows of a stream from a position on: at least one, then as many as fit in `bytesMax`. */
  rows({ stream, from, bytesMax }: Of<'readRows'>): Reply {
    const rows: StoredRow[] = [];
    let bytes = 0;
    let more = false;
    const select = this.#statements.rows[stream];
    if (!select) throw new Error(`no stream ${stream}`);
    for (const row of inOrder(this.#stored(stream, select.iterate(from)), this.#recent.rows(stream, from))) {
      if (rows.length > 0 && bytes + row.blob.length > bytesMax) {
        more = true;
        break;
      }
      rows.push(row);
      bytes += row.blob.length;
    }
    return { kind: 'rows', stream, rows, more };
  }

  *#stored(stream: number, found: Iterable<PackedRow>): Iterable<StoredRow> {
    for (const { packed, ...row } of found) {
      const blob = unpack({ blob: row.blob, packed });
      yield { ...row, blob, done: this.#statements.done.get(stream, row.first) ?? null };
    }
  }

  /** Returns delayed tasks of a class from (due, id) on, soonest first. */
  delayed({ taskClass, due, id, limit, bytesMax }: Of<'readDelayed'>): Reply {
    const rows: StoredDelayed[] = [];
    let bytes = 0;
    let more = false;
    for (const row of this.#statements.delayed.iterate(taskClass, due, id)) {
      if (rows.length >= limit || bytes > bytesMax) {
        more = true;
        break;
      }
      rows.push(row);
      bytes += row.blob.length;
    }
    return { kind: 'delayed', taskClass, rows, more };
  }

  /** Returns delayed tasks by their ids, without those that are done. */
  delayedIds({ taskClass, ids }: Of<'readDelayedIds'>): Reply {
    const rows = ids.flatMap((id) => this.#statements.delayedId.get(id) ?? []);
    return { kind: 'delayed', taskClass, rows, more: false };
  }

  directory({ after, limit }: Of<'readDirectory'>): Reply {
    const records = this.#statements.directory.all(after, limit);
    return { kind: 'records', records, more: records.length === limit };
  }

  recordStore({ table, after, limit }: Of<'readRecordStore'>): Reply {
    const records = this.#statements.recordStore[table].all(after, limit);
    return { kind: 'records', records, more: records.length === limit };
  }

  quarantined({ ids }: Of<'readQuarantined'>): Reply {
    const records = ids.flatMap((id) => this.#statements.quarantined.get(id) ?? []);
    return { kind: 'records', records, more: false };
  }

  /** Returns the records that are wanted, newest first. */
  findQuarantined({ wanted, limit }: Of<'findQuarantined'>): Reply {
    const { quarantinedOf, quarantinedAbout } = this.#statements;
    const records =
      'eventId' in wanted
        ? quarantinedOf.all(wanted.eventId, limit)
        : quarantinedAbout.all({ about: wanted.about, merchantId: wanted.merchantId ?? null, limit });
    return { kind: 'records', records, more: records.length === limit };
  }

  /** Forgets event ids seen before a time, examining `limit` of them per call; `more` until the table was walked. */
  forgetEvents({ before, limit }: Of<'forgetEvents'>): Reply {
    const { seenRange, seenForget } = this.#statements;
    const last = seenRange.all(this.#forgetFrom, limit).at(-1);
    if (last) seenForget.run(this.#forgetFrom, last, before);
    this.#forgetFrom = last ?? Buffer.alloc(0);
    return { kind: 'forgotten', more: last !== undefined };
  }

  /** Returns the counts of waiting records, when the file is opened. */
  waiting(): Pick<OpenedFile, 'pending' | 'oldest' | 'delayed'> {
    const done = this.#db.prepare<[number], Buffer>('SELECT bits FROM log_done WHERE stream = ?').pluck();
    const pending = STREAMS.map((stream, index) => {
      const sum =
        this.#db.prepare<[], number>(`SELECT coalesce(sum(count), 0) FROM log_${stream}`).pluck().get() ?? 0;
      const recent = this.#recent.rows(index);
      return [...done.all(index), ...recent.flatMap((row) => row.done ?? [])].reduce(
        (left, bits) => left - bitsSet(bits),
        recent.reduce((all, { count }) => all + count, sum),
      );
    });
    const oldest = STREAMS.map((stream, index) => {
      const stored = this.#db
        .prepare<[], number | null>(`SELECT min(first) FROM log_${stream}`)
        .pluck()
        .get();
      const firsts = [stored ?? [], this.#recent.rows(index)[0]?.first ?? []].flat();
      return firsts.length === 0 ? -1 : Math.min(...firsts);
    });
    const count = this.#db.prepare<[number], number>('SELECT count(*) FROM delayed WHERE class = ?').pluck();
    return { pending, oldest, delayed: STREAMS.map((_, index) => count.get(index) ?? 0) };
  }
}

type PackedRow = Omit<StoredRow, 'done'> & { readonly packed: number };

/** Merges the rows of a table and those of recent commits, in the order of their positions. */
function* inOrder(stored: Iterable<StoredRow>, recent: readonly BatchRow[]): Iterable<StoredRow> {
  const waiting = recent.map(({ bytes, ...row }) => ({ ...row, blob: bytes }));
  for (const row of stored) {
    while ((waiting[0]?.first ?? row.first) < row.first) yield waiting.shift() as StoredRow;
    yield row;
  }
  yield* waiting;
}

function bitsSet(bits: Uint8Array): number {
  let count = 0;
  for (let byte of bits) for (; byte; byte &= byte - 1) count += 1;
  return count;
}

function prepare(db: Database.Database) {
  const recordStore = (table: RecordStoreTable) =>
    db.prepare<[number, number], StoredRecord>(
      `SELECT CAST(id AS TEXT) AS key, schema, blob FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`,
    );
  return {
    rows: STREAMS.map((stream) =>
      db.prepare<[number], PackedRow>(
        `SELECT first, count, at, schema, blob, packed FROM log_${stream} WHERE first >= ? ORDER BY first`,
      ),
    ),
    done: db
      .prepare<[number, number], Buffer>('SELECT bits FROM log_done WHERE stream = ? AND first = ?')
      .pluck(),
    delayed: db.prepare<[number, number, number], StoredDelayed>(
      `SELECT id, due, schema, blob FROM delayed WHERE class = ? AND (due, id) >= (?, ?) ORDER BY due, id`,
    ),
    delayedId: db.prepare<[number], StoredDelayed>('SELECT id, due, schema, blob FROM delayed WHERE id = ?'),
    directory: db.prepare<[string, number], StoredRecord>(
      'SELECT key, schema, blob FROM directory WHERE key > ? ORDER BY key LIMIT ?',
    ),
    recordStore: { quarantine: recordStore('quarantine'), dead_letter: recordStore('dead_letter') },
    quarantined: db.prepare<[number], StoredRecord>(
      'SELECT CAST(id AS TEXT) AS key, schema, blob FROM quarantine WHERE id = ?',
    ),
    quarantinedOf: db.prepare<[string, number], StoredRecord>(
      'SELECT CAST(id AS TEXT) AS key, schema, blob FROM quarantine WHERE event_id = ? ORDER BY id DESC LIMIT ?',
    ),
    quarantinedAbout: db.prepare<[{ merchantId: string | null; about: string; limit: number }], StoredRecord>(
      `SELECT CAST(id AS TEXT) AS key, schema, blob FROM quarantine
      WHERE id IN (${['event_id', 'subject_id', 'entity_id'].map(newestAbout).join(' UNION ')})
      ORDER BY id DESC LIMIT :limit`,
    ),
    seenRange: db
      .prepare<[Buffer, number], Buffer>(
        'SELECT event_id FROM seen_event WHERE event_id > ? ORDER BY event_id LIMIT ?',
      )
      .pluck(),
    seenForget: db.prepare<[Buffer, Buffer, number]>(
      'DELETE FROM seen_event WHERE event_id > ? AND event_id <= ? AND seen_at < ?',
    ),
  };
}

/** Returns the query of the newest records, of a merchant or of all, with the id in this column. */
function newestAbout(column: string): string {
  return `SELECT id FROM (
    SELECT id FROM quarantine WHERE ${column} = :about AND (:merchantId IS NULL OR merchant_id = :merchantId)
    ORDER BY id DESC LIMIT :limit
  )`;
}
