import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type CopyOptions, copyStore } from '../../../services/store/copy/copy-store.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../services/store/store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { movableClock } from '../../support/movable-clock.ts';
import type { TestDatabase } from '../../support/postgres/suites.ts';
import { HOUR_MS } from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';
import { migrateAsOwner } from '../postgres/postgres-place.ts';

/** A folder for a SQLite store, and a database to copy it to. Everything is removed when the test ends. */
export async function copyPlace(createDatabase: () => Promise<TestDatabase>) {
  const folder = await mkdtemp(join(tmpdir(), 'hookrail-copy-'));
  const database = await createDatabase();
  const clock = movableClock();
  const opened: Store[] = [];
  onTestFinished(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await database.drop();
    await rm(folder, { recursive: true });
  });
  const kept = (store: Store) => {
    opened.push(store);
    return store;
  };
  /** The service's role on PostgreSQL, which owns nothing. */
  const address = parsePostgresUrl(database.running, undefined);
  const file = join(folder, 'store.db');
  const common = { clock, healthPolicy: TEST_POLICY, keyRing: TEST_RING };
  const options: CopyOptions = {
    ...{ clock, file, leafMs: HOUR_MS, runningRole: address.user },
    address: parsePostgresUrl(database.owner, undefined),
    tell: () => {},
  };
  return {
    ...{ database, clock, file, options },
    sqlite: async () => kept(await openSqliteStore({ file, ...common })),
    postgres: async () =>
      kept(await openPostgresStore({ address, connectionsMax: 4, leafMs: HOUR_MS, ...common })),
    copy: (change: Partial<CopyOptions> = {}) => copyStore({ ...options, ...change }),
    /** Migrates the database, which the copy would do. */
    migrate: () => migrateAsOwner(database, clock),
  };
}
