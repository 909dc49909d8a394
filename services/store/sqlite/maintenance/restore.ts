import { chmodSync, copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { createPrivately, openPrivateFolder } from '../../../process/private-files.ts';
import { connect } from '../../../sqlite/connect.ts';
import { damaged, isDamage } from '../../../sqlite/database.ts';
import { freeName, renameDatabase, SIDE_FILES } from '../../../sqlite/database-files.ts';
import { lockExclusively } from '../../../sqlite/exclusive-lock.ts';
import { layoutFault } from '../../../sqlite/migrate-file.ts';
import { MIGRATIONS } from '../migrations/migrate.ts';
import { carryOver } from './carry-over.ts';

/**
 * Replaces the store at `file` with a backup; the old files are kept beside it. No process may have the store open.
 * Orders again in it what was erased since the backup: its manifest has that, and the store that is replaced. `at`: now.
 * Returns the path of the old one, null when there was none. Throws, changing nothing, when the backup is not a sound
 * store of a layout that this build knows, or the store is in use.
 */
export function restoreSqliteStore(
  file: string,
  from: string,
  at: number,
): { readonly keptAs: string | null } {
  verify(from);
  // On a new machine there is no data directory yet.
  openPrivateFolder(dirname(file));
  const lock = lockExclusively(file);
  try {
    const incoming = `${file}.incoming`;
    createPrivately(incoming);
    copyFileSync(from, incoming);
    // On some file systems a copy keeps the backup's mode.
    chmodSync(incoming, 0o600);
    const keptAs = existsSync(file) ? freeName(`${file}.before-restore`) : null;
    carryOver(incoming, { from, file, keptAs, at });
    if (keptAs !== null) renameDatabase(file, keptAs);
    for (const end of SIDE_FILES) rmSync(file + end, { force: true });
    renameSync(incoming, file);
    return { keptAs };
  } finally {
    lock.release();
  }
}

function verify(backup: string): void {
  if (!existsSync(backup)) throw new Error(`${backup} does not exist`);
  let db: Database.Database | undefined;
  try {
    db = connect(backup, { readonly: true });
    const tables = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name IN ('merchant', 'endpoint')");
    if (tables.pluck().get() !== 2) throw new Error(`${backup} is not a store of hookrail`);
    const fault = layoutFault(db, backup, MIGRATIONS);
    if (fault !== undefined) throw new Error(fault);
    const [verdict] = db.pragma('integrity_check(1)') as { readonly integrity_check: string }[];
    if (verdict?.integrity_check !== 'ok') {
      throw new Error(`${backup} is damaged (${verdict?.integrity_check}): use another backup`);
    }
  } catch (error) {
    throw isDamage(error) ? new Error(damaged(backup, error)) : error;
  } finally {
    db?.close();
  }
}
