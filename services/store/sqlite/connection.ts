import type { Database } from 'better-sqlite3';
import { openDatabase } from '../../sqlite/database.ts';

/**
 * Enough for the pages that one transaction changes, and for the upper pages of the indexes; the operating system caches
 * the rest. Measured: with four times as much, nothing is faster.
 */
const CACHE_KIB = { read: 4 * 1024, write: 8 * 1024 } as const;
/** A checkpoint every 8 MiB: fewer rewrites of hot pages, and a commit never waits longer than that takes. */
const CHECKPOINT_PAGES = 2048;
/** A backup tool may hold a lock for a moment. */
const LOCKED_MS_MAX = 5000;

/** Opens a connection to the store's file. Throws one line for an operator that names the file. */
export function openConnection(file: string, access: 'read' | 'write'): Database {
  const cacheKib = CACHE_KIB[access];
  const settings = { cacheKib, checkpointPages: CHECKPOINT_PAGES, lockedMsMax: LOCKED_MS_MAX };
  return openDatabase(file, { access, secureDelete: 'ON', ...settings });
}
