import Database from 'better-sqlite3';
import { createPrivately } from '../../runtime/private-files.ts';
import { RECORD_KINDS, STREAMS } from './wire.ts';

/** Grows when the tables change; a file of a newer version is refused. */
const FORMAT = 1;

const TABLES = `
  CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  -- What each record was written with: rows name a schema by its id, so that old rows stay readable.
  CREATE TABLE IF NOT EXISTS writer_schema(id INTEGER PRIMARY KEY, record TEXT NOT NULL, schema TEXT NOT NULL);
  -- Where each stream goes on: positions are never used twice, also when every row is gone.
  CREATE TABLE IF NOT EXISTS position(stream INTEGER PRIMARY KEY, next INTEGER NOT NULL);
  -- Which records of a batch row are done, until all of them are and the row goes.
  CREATE TABLE IF NOT EXISTS log_done(
    stream INTEGER NOT NULL, first INTEGER NOT NULL, bits BLOB NOT NULL, PRIMARY KEY(stream, first)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS delayed(
    id INTEGER PRIMARY KEY, class INTEGER NOT NULL, due REAL NOT NULL, schema INTEGER NOT NULL, blob BLOB NOT NULL
  );
  CREATE INDEX IF NOT EXISTS delayed_due ON delayed(class, due, id);
  -- Event ids and hashes of their content (see seen-events.ts).
  CREATE TABLE IF NOT EXISTS seen_event(
    event_id BLOB PRIMARY KEY, hash INTEGER NOT NULL, seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS seen_recent(id INTEGER PRIMARY KEY, ids BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS directory(
    key TEXT PRIMARY KEY, version INTEGER NOT NULL, schema INTEGER NOT NULL, blob BLOB NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS quarantine(
    id INTEGER PRIMARY KEY AUTOINCREMENT, schema INTEGER NOT NULL, blob BLOB NOT NULL
  );
  CREATE TABLE IF NOT EXISTS dead_letter(
    id INTEGER PRIMARY KEY AUTOINCREMENT, schema INTEGER NOT NULL, blob BLOB NOT NULL
  );
`;

/** One row per commit and stream rather than per record, so that a record costs very little. */
const logTable = (stream: string) => `
  CREATE TABLE IF NOT EXISTS log_${stream}(
    first INTEGER PRIMARY KEY, count INTEGER NOT NULL, at REAL NOT NULL, schema INTEGER NOT NULL, blob BLOB NOT NULL
  );`;

/** A commit of many records was cheaper than with 4 KiB; with 16 KiB, one of few records would write too much. */
export const PAGE_BYTES = 8192;
/** The page cache: large enough for the pages that the streams reuse all the time. */
const CACHE_KIBIBYTES = 16 * 1024;
/** A WAL that grew beyond this in a burst is truncated when it starts over. */
const WAL_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Opens the data file, creating it if necessary. Throws one line for an operator when it is damaged, not one of our
 * data files, or written by a newer version.
 */
export function openDatabase(file: string): Database.Database {
  let db: Database.Database | undefined;
  try {
    createPrivately(file);
    db = new Database(file, { timeout: 0 });
    // Has an effect in a new file only.
    db.pragma(`page_size = ${PAGE_BYTES}`);
    db.pragma('journal_mode = WAL');
    assertDurable(db, file);
    db.pragma(`cache_size = -${CACHE_KIBIBYTES}`);
    db.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
    // Checkpoints run between commits, when the thread decides (worker.ts), never inside one.
    db.pragma('wal_autocheckpoint = 0');
    const format = db.pragma('user_version', { simple: true }) as number;
    if (format > FORMAT) {
      throw new Error(`${file} was written by a newer version (format ${format}, known: ${FORMAT}): upgrade`);
    }
    db.transaction(() => {
      db?.exec(TABLES + STREAMS.map(logTable).join(''));
      db?.pragma(`user_version = ${FORMAT}`);
    })();
    return db;
  } catch (error) {
    db?.close();
    throw explained(error, file);
  }
}

/**
 * Checks durability: a connection to a WAL file runs with synchronous=NORMAL by default, and would lose commits in a
 * power cut.
 */
function assertDurable(db: Database.Database, file: string): void {
  db.pragma('synchronous = FULL');
  const FULL = 2;
  const synchronous = db.pragma('synchronous', { simple: true });
  const mode = db.pragma('journal_mode', { simple: true });
  if (synchronous !== FULL || mode !== 'wal') {
    throw new Error(`${file}: SQLite did not take synchronous=FULL with a WAL (${synchronous}, ${mode})`);
  }
}

function explained(error: unknown, file: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  if (isDamage(error.code)) {
    return new Error(
      `${file} is damaged or no data file (${error.message}): restore it from a backup, or move it away`,
    );
  }
  return new Error(`${file} cannot be opened (${error.code}: ${error.message})`);
}

/** Returns whether the file's content can no longer be trusted. */
export function isDamage(code: string): boolean {
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
}

/** Registers the current writer schemas in the file. Returns their ids by record kind, and all that are known. */
export function writerSchemas(
  db: Database.Database,
  today: readonly { readonly record: string; readonly schema: string }[],
): { readonly ids: readonly number[]; readonly all: { id: number; record: string; schema: string }[] } {
  const find = db.prepare<[string, string], { id: number }>(
    'SELECT id FROM writer_schema WHERE record = ? AND schema = ?',
  );
  const add = db.prepare('INSERT INTO writer_schema(record, schema) VALUES (?, ?)');
  const ids = RECORD_KINDS.map((kind) => {
    const schema = today.find(({ record }) => record === kind)?.schema;
    if (schema === undefined) throw new Error(`no schema was given for ${kind}`);
    return find.get(kind, schema)?.id ?? Number(add.run(kind, schema).lastInsertRowid);
  });
  const all = db
    .prepare<[], { id: number; record: string; schema: string }>(
      'SELECT id, record, schema FROM writer_schema',
    )
    .all();
  return { ids, all };
}

/** Returns the file's own name, stored when it is new: positions count within one incarnation of it. */
export function instanceOf(db: Database.Database, fresh: string): string {
  db.prepare("INSERT INTO meta(key, value) VALUES ('instance', ?) ON CONFLICT DO NOTHING").run(fresh);
  return db.prepare<[], string>("SELECT value FROM meta WHERE key = 'instance'").pluck().get() ?? fresh;
}

/**
 * Corrects the due times of delayed tasks to the system's time. A process writes them by its own clock, which does not
 * follow changes of the system's time, and stores beside them by how much that was set; the next process starts with a
 * clock that agrees with the system's time.
 */
export function moveDueTimes(db: Database.Database): void {
  db.transaction(() => {
    const setBy = Number(
      db.prepare<[], string>("SELECT value FROM meta WHERE key = 'set_by'").pluck().get() ?? 0,
    );
    if (setBy === 0) return;
    db.prepare('UPDATE delayed SET due = due + ?').run(setBy);
    db.prepare("DELETE FROM meta WHERE key = 'set_by'").run();
  })();
}
