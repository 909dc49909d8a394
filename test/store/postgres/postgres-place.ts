import type { KeyRing } from '../../../services/keys/keyring.ts';
import type { Clock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { migrateDatabase } from '../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { type Store, StoreUnavailable } from '../../../services/store/store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestDatabase } from '../../support/postgres/suites.ts';
import { HOUR_MS } from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';

/** Connections of a store under test. */
const CONNECTIONS_MAX = 5;

/** A migrated database, and stores on it as of processes of their own. */
export interface PostgresPlace {
  readonly database: TestDatabase;
  open(keyRing?: KeyRing | null): Promise<Store>;
  /** Ends the connections of all stores on it, as `kill -9` of their processes would. */
  crash(store: Store): Promise<void>;
  dispose(): Promise<void>;
}

/**
 * A database that its owner has migrated, and stores that use it as a role which owns nothing. `through`: returns the URL
 * that stores use instead of the database's own. `as`: the role of the stores, where it is not the running one.
 */
export async function postgresPlace(
  createDatabase: () => Promise<TestDatabase>,
  clock: Clock,
  {
    through = (url) => url,
    as = 'running',
  }: { readonly through?: (url: string) => string; readonly as?: 'running' | 'owner' } = {},
): Promise<PostgresPlace> {
  const database = await createDatabase();
  await migrateAsOwner(database, clock);
  const address = parsePostgresUrl(through(database[as]), undefined);
  const crashed: Store[] = [];
  const openOnce = (keyRing: KeyRing | null = TEST_RING) =>
    openPostgresStore({
      keyRing,
      address,
      clock,
      connectionsMax: CONNECTIONS_MAX,
      healthPolicy: TEST_POLICY,
      leafMs: HOUR_MS,
    });
  // PgBouncer refuses a client when the server connection that it opens for it ends. A supervisor would start it again.
  const isPooled = through(database[as]) !== database[as];
  const openSoon = (keyRing?: KeyRing | null) =>
    eventually('the store opens', () =>
      openOnce(keyRing).catch((error: unknown) => {
        if (error instanceof StoreUnavailable) return null;
        throw error;
      }),
    );
  return {
    database,
    open: isPooled ? openSoon : openOnce,
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

/** Migrates a database, and grants the running role what it needs. */
export function migrateAsOwner({ owner, running }: TestDatabase, clock: Clock): Promise<unknown> {
  const { user } = parsePostgresUrl(running, undefined);
  return migrateDatabase(parsePostgresUrl(owner, undefined), clock, undefined, user);
}
