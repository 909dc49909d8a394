import type { Clock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../services/store/postgres/client/postgres-database.ts';
import { migrate } from '../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore, type PostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import type { TestDatabase } from '../../support/postgres/suites.ts';

/** Connections of a store under test. */
const CONNECTIONS_MAX = 5;

/** A migrated database, and stores on it as of processes of their own. */
export interface PostgresPlace {
  readonly database: TestDatabase;
  open(): Promise<PostgresStore>;
  /** Ends the connections of all stores on it, as `kill -9` of their processes would. */
  crash(store: PostgresStore): Promise<void>;
  dispose(): Promise<void>;
}

export async function postgresPlace(
  createDatabase: () => Promise<TestDatabase>,
  clock: Clock,
): Promise<PostgresPlace> {
  const database = await createDatabase();
  const address = parsePostgresUrl(database.url, undefined);
  await migrateDatabase(database.url, clock);
  const crashed: PostgresStore[] = [];
  return {
    database,
    open: () => openPostgresStore({ address, clock, connectionsMax: CONNECTIONS_MAX }),
    async crash(store) {
      crashed.push(store);
      await database.disconnectAll();
    },
    async dispose() {
      await Promise.all(crashed.map((store) => store.close()));
      await database.drop();
    },
  };
}

async function migrateDatabase(url: string, clock: Clock): Promise<void> {
  const address = parsePostgresUrl(url, undefined);
  const database = new PostgresDatabase({ address, clock, connectionsMax: 1, applicationName: 'test' });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}
