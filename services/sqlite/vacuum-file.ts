import type { Database } from 'better-sqlite3';
import { lockExclusively } from './exclusive-lock.ts';

/**
 * Writes a file anew, whatever its size. `purge` gets the database that `open` returns. Throws one line when a process has
 * the file open.
 */
export function vacuumFile(file: string, open: () => Database, purge: (db: Database) => void): void {
  const lock = lockExclusively(file);
  try {
    const db = open();
    try {
      purge(db);
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
}
