import Database from 'better-sqlite3';
import { createPrivately } from '../process/private-files.ts';
import { connect } from './connect.ts';

/** PRAGMA synchronous returns a number: 2 = FULL. */
const SYNCHRONOUS_FULL = 2;
/** Measured: with 8 KiB a commit of few records writes half as much again, and one of many costs no less. */
export const PAGE_BYTES = 4096;
/** A write-ahead log that grew beyond this in a burst is truncated when it starts over. */
const WAL_BYTES_KEPT = 64 * 1024 * 1024;

export interface DatabaseOptions {
  readonly access: 'read' | 'write';
  readonly cacheKib: number;
  /** A commit that makes the write-ahead log this long copies it into the file; 0 = the caller does that. */
  readonly checkpointPages: number;
  /**
   * How rows are deleted. `ON`: they are overwritten. `FAST`: only where that writes no further pages; measured, `ON` adds 11 %
   * to the bytes that the broker's file writes, and nothing to the store's. The rest is done by `purge` (purge.ts).
   */
  readonly secureDelete: 'ON' | 'FAST';
  /** The wait for another connection's lock, milliseconds. */
  readonly lockedMsMax: number;
}

/**
 * Opens a data file, creating it if necessary. Every setting that durability depends on is set and read back: SQLite
 * forgets `synchronous` with every connection, and an existing WAL file would silently run with NORMAL and lose commits
 * in a power cut. Throws one line for an operator that names the file.
 */
export function openDatabase(file: string, options: DatabaseOptions): Database.Database {
  const isReader = options.access === 'read';
  let db: Database.Database | undefined;
  try {
    if (!isReader) createPrivately(file);
    db = connect(file, { readonly: isReader, timeout: options.lockedMsMax });
    if (!isReader) {
      // Has an effect in a new file only.
      db.pragma(`page_size = ${PAGE_BYTES}`);
      db.pragma('journal_mode = WAL');
      db.pragma(`secure_delete = ${options.secureDelete}`);
      db.pragma(`wal_autocheckpoint = ${options.checkpointPages}`);
      db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`);
    }
    db.pragma('synchronous = FULL');
    db.pragma(`cache_size = -${options.cacheKib}`);
    db.pragma('temp_store = MEMORY');
    const mode = db.pragma('journal_mode', { simple: true });
    const synchronous = db.pragma('synchronous', { simple: true });
    if (mode !== 'wal' || synchronous !== SYNCHRONOUS_FULL) {
      throw new Error(`${file} cannot be made durable: journal_mode ${mode}, synchronous ${synchronous}`);
    }
    return db;
  } catch (error) {
    db?.close();
    throw explained(error, file);
  }
}

/** Returns the error for an operator, in one line that names the file; other errors than SQLite's as they are. */
export function explained(error: unknown, file: string): unknown {
  if (isDamage(error)) return new Error(damaged(file, error));
  if (!(error instanceof Database.SqliteError)) return error;
  return new Error(`${file} cannot be opened (${error.code}: ${error.message})`);
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
