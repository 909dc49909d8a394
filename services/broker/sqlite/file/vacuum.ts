import { existsSync } from 'node:fs';
import { lockExclusively } from '../../../sqlite/exclusive-lock.ts';
import { openBrokerFile, purgeWhole } from './schema.ts';

/**
 * Writes the broker's file anew, whatever its size, without what was deleted. Returns false where there is none. Throws one line
 * when a process has it open.
 */
export function vacuumBrokerFile(file: string): boolean {
  if (!existsSync(file)) return false;
  const lock = lockExclusively(file);
  try {
    const db = openBrokerFile(file);
    try {
      purgeWhole(db, Number.POSITIVE_INFINITY);
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
  return true;
}
