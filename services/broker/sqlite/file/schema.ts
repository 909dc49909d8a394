import type { Database } from 'better-sqlite3';
import { explained, openDatabase } from '../../../sqlite/database.ts';
import { layoutFaultOf, migrateFile } from '../../../sqlite/migrate-file.ts';
import { RECORD_KINDS, STREAMS } from './wire.ts';

const TABLES = `
  CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  -- What each record was written with: rows name a schema by its id, so that old rows stay readable.
  CREATE TABLE writer_schema(id INTEGER PRIMARY KEY, record TEXT NOT NULL, schema TEXT NOT NULL);
  -- The last commits, in a ring of slots (see recent-commits.ts).
  CREATE TABLE recent_commit(slot INTEGER PRIMARY KEY, content BLOB NOT NULL);
  -- Where each stream goes on when no slot says it: positions are never used twice, also when every row is gone. The
  -- two numbers after the last stream are of the delayed tasks and of the highest sequence.
  CREATE TABLE position(stream INTEGER PRIMARY KEY, next INTEGER NOT NULL);
  -- Which records of a batch row are done, until all of them are and the row goes.
  CREATE TABLE log_done(
    stream INTEGER NOT NULL, first INTEGER NOT NULL, bits BLOB NOT NULL, PRIMARY KEY(stream, first)
  ) WITHOUT ROWID;
  CREATE TABLE delayed(
    id INTEGER PRIMARY KEY, class INTEGER NOT NULL, due REAL NOT NULL, schema INTEGER NOT NULL, blob BLOB NOT NULL
  );
  CREATE INDEX delayed_due ON delayed(class, due, id);
  -- Event ids and hashes of their content (see seen-events.ts).
  CREATE TABLE seen_event(
    event_id BLOB PRIMARY KEY, hash INTEGER NOT NULL, seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE seen_recent(id INTEGER PRIMARY KEY, ids BLOB NOT NULL);
  CREATE TABLE directory(
    key TEXT PRIMARY KEY, version INTEGER NOT NULL, schema INTEGER NOT NULL, blob BLOB NOT NULL
  ) WITHOUT ROWID;
  -- The ids are those of the record; null = it could not be read that far, or has none.
  CREATE TABLE quarantine(
    id INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT, merchant_id TEXT, subject_id TEXT, entity_id TEXT,
    schema INTEGER NOT NULL, blob BLOB NOT NULL
  );
  CREATE INDEX quarantine_of_event ON quarantine(event_id, id);
  CREATE INDEX quarantine_of_subject ON quarantine(subject_id, id) WHERE subject_id IS NOT NULL;
  CREATE INDEX quarantine_of_entity ON quarantine(entity_id, id) WHERE entity_id IS NOT NULL;
  CREATE TABLE dead_letter(
    id INTEGER PRIMARY KEY AUTOINCREMENT, schema INTEGER NOT NULL, blob BLOB NOT NULL
  );
`;

/** Rows of many records that were committed together, and small ones that have left the ring. packed: see packing.ts. */
const logTable = (stream: string) => `
  CREATE TABLE log_${stream}(
    first INTEGER PRIMARY KEY, count INTEGER NOT NULL, at REAL NOT NULL, schema INTEGER NOT NULL, blob BLOB NOT NULL,
    packed INTEGER NOT NULL DEFAULT 0
  );`;

/** All migrations of the broker's file in order. Nothing is released yet: a change of the tables edits the first. */
const MIGRATIONS: readonly string[] = [TABLES + STREAMS.map(logTable).join('')];

/** Large enough for the pages that the streams reuse all the time. */
const CACHE_KIB = 4 * 1024;

/**
 * Opens the broker's file, creating it if necessary. Throws one line for an operator when it is damaged, not one of
 * our data files, or written by another build.
 */
export function openBrokerFile(file: string): Database {
  // Checkpoints run between commits, when the thread decides (worker.ts), never inside one. Its lock is held already.
  const db = openDatabase(file, {
    ...{ access: 'write', cacheKib: CACHE_KIB, checkpointPages: 0, lockedMsMax: 0 },
    secureDelete: 'FAST',
  });
  try {
    migrateFile(db, file, MIGRATIONS);
    return db;
  } catch (error) {
    db.close();
    throw explained(error, file);
  }
}

/** Returns why this build cannot use the file, as layoutFaultOf does. */
export function fileFault(file: string): string | undefined {
  return layoutFaultOf(file, MIGRATIONS);
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
