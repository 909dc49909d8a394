import Database from 'better-sqlite3';
import { createPrivately } from '../../runtime/private-files.ts';

/** PRAGMA synchronous returns a number: 2 = FULL. */
const SYNCHRONOUS_FULL = 2;
/**
 * Measured: an event's row is about 1 KiB, and a large commit was a third cheaper than with pages of 4 KiB; 16 KiB were
 * no better.
 */
const PAGE_BYTES = 8192;
const CACHE_KIB = 32 * 1024;
/** A checkpoint every 16 MiB: fewer rewrites of hot pages, and a commit never waits longer than that takes. */
const CHECKPOINT_PAGES = 2048;
/** The size to which the write-ahead log is truncated after it had to grow. */
const WAL_BYTES_KEPT = 64 * 1024 * 1024;

/**
 * Opens a connection. Every setting that durability depends on is set and read back: SQLite forgets `synchronous` with
 * every connection, and an existing WAL file would silently run with NORMAL. Throws one line naming the file
 * when it is not a database or is damaged.
 */
export function openConnection(file: string, access: 'read' | 'write'): Database.Database {
  const isReader = access === 'read';
  let db: Database.Database | undefined;
  try {
    if (!isReader) createPrivately(file);
    db = new Database(file, { readonly: isReader });
    if (!isReader) {
      db.pragma(`page_size = ${PAGE_BYTES}`);
      db.pragma('journal_mode = WAL');
      db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`);
    }
    db.pragma('synchronous = FULL');
    db.pragma(`cache_size = -${CACHE_KIB}`);
    db.pragma('temp_store = MEMORY');
    const mode = db.pragma('journal_mode', { simple: true });
    const synchronous = db.pragma('synchronous', { simple: true });
    if (mode !== 'wal' || synchronous !== SYNCHRONOUS_FULL) {
      throw new Error(`${file} cannot be made durable: journal_mode ${mode}, synchronous ${synchronous}`);
    }
    return db;
  } catch (error) {
    db?.close();
    throw isDamage(error) ? new Error(damaged(file, error)) : error;
  }
}

/** Returns whether SQLite reports that the file is not a database or is damaged. */
export function isDamage(error: unknown): error is Error {
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code);
}

export function damaged(file: string, error: Error): string {
  return `${file} is damaged or not a SQLite database (${error.message}): restore it from a backup, or move it away`;
}

/** Returns whether the error may be temporary (disk full, I/O error, locked by a backup tool): the caller may retry. */
export function isUnavailable(error: unknown): error is Error {
  return (
    error instanceof Database.SqliteError &&
    /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CANTOPEN|NOMEM|PROTOCOL|CORRUPT|NOTADB)/.test(error.code)
  );
}
