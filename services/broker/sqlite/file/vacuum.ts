import { existsSync } from 'node:fs';
import { purge } from '../../../sqlite/purge.ts';
import { vacuumFile } from '../../../sqlite/vacuum-file.ts';
import { RecentCommits } from './recent-commits.ts';
import { openBrokerFile } from './schema.ts';

/** Writes the broker's file anew without what was deleted, as vacuumFile does. Returns false where there is none. */
export function vacuumBrokerFile(file: string): boolean {
  if (!existsSync(file)) return false;
  const open = () => openBrokerFile(file);
  vacuumFile(file, open, (db) => {
    const recent = new RecentCommits(db);
    db.transaction(() => recent.clear())();
    purge(db, Number.POSITIVE_INFINITY);
  });
  return true;
}
