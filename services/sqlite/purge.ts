import type { Database } from 'better-sqlite3';
import { isUnavailable } from './database.ts';

/**
 * A file of which more is in use is not written anew while a service uses it: it takes a second for each 200 MiB, and
 * writers wait meanwhile.
 */
export const PURGE_BYTES_MAX = 512 * 1024 * 1024;

/**
 * Overwrites what deleted rows have left behind in a file. `secure_delete` clears a row that is deleted, but not the copies of
 * it that stay in unused parts of other pages when rows move between pages, nor what the write-ahead log has: so the file is
 * written anew, and the log cut off. Returns false, and cuts off the log only, when more of the file is in use than
 * `bytesMax`. Throws FileIsRead when another connection reads the file for longer than the wait for its lock. Not within a
 * transaction.
 */
export function purge(db: Database, bytesMax: number = PURGE_BYTES_MAX): boolean {
  const value = (pragma: string) => Number(db.pragma(pragma, { simple: true }));
  const used = (value('page_count') - value('freelist_count')) * value('page_size');
  const isSmall = used <= bytesMax;
  if (isSmall) db.exec('VACUUM');
  cutOffLog(db);
  return isSmall;
}

/** Says that a file is too large to be purged while a service uses it, and what removes the rest. */
export function unpurged(file: string): string {
  return `unused parts of ${file}, which is too large to be written anew beside the service: until hookrail operator store vacuum`;
}

/** Purges a file at a start. A full disk does not keep the service from starting: the next start tries it again. */
export function purgeAtStart(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
}

function cutOffLog(db: Database): void {
  const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { readonly busy: number }[];
  if (result?.busy !== 0) throw new FileIsRead();
}

/** Another connection, such as a backup, reads an earlier state of the file: the write-ahead log has to stay. */
class FileIsRead extends Error {
  constructor() {
    super(
      'a backup or another connection reads the file: what was removed is cleared from it once that has ended',
    );
  }
}
