import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { systemClock } from '../../../services/process/clock.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { sealsContract } from '../../contract/management/store-seals.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';

sealsContract('sqlite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hookrail-store-'));
  const file = join(directory, 'store.db');
  return {
    open: (keyRing) => openSqliteStore({ file, clock: systemClock(), healthPolicy: TEST_POLICY, keyRing }),
    async write(sql) {
      const db = new Database(file);
      db.exec(sql);
      db.close();
    },
    dispose: () => rm(directory, { recursive: true }),
  };
});
