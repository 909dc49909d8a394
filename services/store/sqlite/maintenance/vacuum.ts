import { existsSync } from 'node:fs';
import { vacuumFile } from '../../../sqlite/vacuum-file.ts';
import { openConnection } from '../connection.ts';
import { migrate } from '../migrations/migrate.ts';
import { Purges } from './purges.ts';

/** Writes the store's file anew without what was deleted, as vacuumFile does. Returns false where there is none. */
export function vacuumSqliteStore(file: string): boolean {
  if (!existsSync(file)) return false;
  const open = () => openConnection(file, 'write');
  vacuumFile(file, open, (db) => {
    migrate(db, file);
    new Purges(db).run(Number.POSITIVE_INFINITY);
  });
  return true;
}
