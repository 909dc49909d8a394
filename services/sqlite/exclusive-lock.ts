import Database from 'better-sqlite3';
import { createPrivately } from '../process/private-files.ts';
import { connect } from './connect.ts';

export interface ExclusiveLock {
  release(): void;
}

/**
 * Claims a data file for this process by holding a lock on `<file>.lock` for as long as it lives. The operating system
 * releases it when the process dies, however it dies, so no stale lock can be left behind.
 * Throws at once, naming the file and what to do, when another process holds it.
 */
export function lockExclusively(file: string): ExclusiveLock {
  createPrivately(`${file}.lock`);
  const lock = connect(`${file}.lock`, { timeout: 0 });
  try {
    // Only the lock file itself may be needed to hold it: a journal on disk would outlive a crash.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new Error(
      `${file} is in use by another process: stop that one first, or use another data directory`,
    );
  }
  return { release: () => void lock.close() };
}
