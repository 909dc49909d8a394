import { existsSync } from 'node:fs';
import { lockExclusively } from '../../../sqlite/exclusive-lock.ts';
import { openConnection } from '../connection.ts';
import { migrate } from '../migrations/migrate.ts';
import { Purges } from './purges.ts';

/**
 * Writes the store's file anew, whatever its size, without what was deleted. Returns false where there is none. Throws one line
 * when a process has it open.
 */
export function vacuumSqliteStore(file: string): boolean {
  if (!existsSync(file)) return false;
  const lock = lockExclusively(file);
  try {
    const db = openConnection(file, 'write');
    try {
      migrate(db, file);
      new Purges(db).run(Number.POSITIVE_INFINITY);
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
  return true;
}
