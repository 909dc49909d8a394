import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { migrateDatabase } from '../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { HOUR_MS } from '../records/journal-entries.ts';
import { prepareSetup, type ServiceSetup } from '../service/system.ts';
import type { TestDatabase } from './suites.ts';

/**
 * As prepareSetup, with the merchant and its keys in a database on PostgreSQL, which is migrated first: one of two roles, or
 * the URL of one that one role migrates and uses.
 */
export async function prepareSetupOnPostgres(
  database: string | Pick<TestDatabase, 'owner' | 'running'>,
  environment: Record<string, string> = {},
): Promise<ServiceSetup> {
  const { owner, running: url } =
    typeof database === 'string' ? { owner: database, running: database } : database;
  const address = parsePostgresUrl(url, undefined);
  await migrateDatabase(parsePostgresUrl(owner, undefined), systemClock(), undefined, address.user);
  const more = { HOOKRAIL_ENGINE: 'kafka', HOOKRAIL_STORE: 'postgres', HOOKRAIL_POSTGRES_URL: url };
  const leafMs = 24 * HOUR_MS;
  return prepareSetup({ ...more, ...environment }, undefined, ({ clock, healthPolicy, keyRing }) =>
    openPostgresStore({ address, clock, healthPolicy, keyRing, connectionsMax: 2, leafMs }),
  );
}
