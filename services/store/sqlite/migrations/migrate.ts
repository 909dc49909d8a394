import type { Database } from 'better-sqlite3';
import { layoutFaultOf, migrateFile } from '../../../sqlite/migrate-file.ts';
import { logTables } from './log-tables.ts';
import { managementTables } from './management-tables.ts';

/** All migrations of the store's file in order. Nothing is released yet: a change of the tables edits the first. */
export const MIGRATIONS: readonly string[] = [managementTables + logTables];

/** Migrates the store's file to the newest layout, as migrateFile does. */
export function migrate(db: Database, file: string): void {
  migrateFile(db, file, MIGRATIONS);
}

/** Returns why this build cannot use the file, as layoutFaultOf does. */
export function fileFault(file: string): string | undefined {
  return layoutFaultOf(file, MIGRATIONS);
}
