import type { Database } from 'better-sqlite3';
import { explained, openDatabase } from '../../../sqlite/database.ts';
import { purge, purgeAtStart } from '../../../sqlite/purge.ts';
import { RECORD_KINDS, STREAMS } from './wire.ts';

/** Grows when the tables change; a file of a newer version is refused. */
const FORMAT = 2;

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
    first INTEGER PRIMARY KEY, count INTEGER NOT NULL, at REAL NOT NULL, schema INTEGER NOT NULL, blob BLOB NOT NULL,
    packed INTEGER NOT NULL DEFAULT 0
  );`;

/** Format 2: a row's bytes may be packed (packing.ts). */
const ADD_PACKED = STREAMS.map(
  (stream) => `ALTER TABLE log_${stream} ADD COLUMN packed INTEGER NOT NULL DEFAULT 0;`,
).join('');

/** Large enough for the pages that the streams reuse all the time. */
const CACHE_KIB = 4 * 1024;

/**
 * Opens the broker's file, creating it if necessary. Throws one line for an operator when it is damaged, not one of
 * our data files, or written by a newer version.
 */
export function openBrokerFile(file: string): Database {
  // Checkpoints run between commits, when the thread decides (worker.ts), never inside one. Its lock is held already.
  const db = openDatabase(file, {
    ...{ access: 'write', cacheKib: CACHE_KIB, checkpointPages: 0, lockedMsMax: 0 },
    secureDelete: 'FAST',
  });
  try {
    const format = db.pragma('user_version', { simple: true }) as number;
    if (format > FORMAT) {
      throw new Error(
        `${file} was written by a newer version (format ${format}, known: ${FORMAT}): run that version`,
      );
    }
    db.transaction(() => {
      if (format === 1) db.exec(ADD_PACKED);
      db.exec(TABLES + STREAMS.map(logTable).join(''));
      db.pragma(`user_version = ${FORMAT}`);
    })();
    purgeFormer(db);
    return db;
  } catch (error) {
    db.close();
    throw explained(error, file);
  }
}

/** Purges a file once that an earlier build has written, which left what it deleted. */
function purgeFormer(db: Database): void {
  if (db.prepare("SELECT 1 FROM meta WHERE key = 'purged'").get()) return;
  purgeAtStart(() => purgeWhole(db));
}

/** Purges the file, and notes that it has nothing of an earlier build. Returns false when it is too large. */
export function purgeWhole(db: Database, bytesMax?: number): boolean {
  const isWhole = purge(db, bytesMax);
  if (isWhole) db.prepare("INSERT INTO meta(key, value) VALUES ('purged', '1') ON CONFLICT DO NOTHING").run();
  return isWhole;
}

/** Registers the current writer schemas in the file. Returns their ids by record kind, and all that are known. */
export function writerSchemas(
  db: Database,
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
export function instanceOf(db: Database, fresh: string): string {
  db.prepare("INSERT INTO meta(key, value) VALUES ('instance', ?) ON CONFLICT DO NOTHING").run(fresh);
  return db.prepare<[], string>("SELECT value FROM meta WHERE key = 'instance'").pluck().get() ?? fresh;
}

/**
 * Corrects the due times of delayed tasks to the system's time. A process writes them by its own clock, which does not
 * follow changes of the system's time, and stores beside them by how much that was set; the next process starts with a
 * clock that agrees with the system's time.
 */
export function moveDueTimes(db: Database): void {
  db.transaction(() => {
    const setBy = Number(
      db.prepare<[], string>("SELECT value FROM meta WHERE key = 'set_by'").pluck().get() ?? 0,
    );
    if (setBy === 0) return;
    db.prepare('UPDATE delayed SET due = due + ?').run(setBy);
    db.prepare("DELETE FROM meta WHERE key = 'set_by'").run();
  })();
}
