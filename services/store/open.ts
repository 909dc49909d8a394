import { join } from 'node:path';
import { type Config, ConfigError } from '../config/config.ts';
import { type PostgresConfig, readPostgresCa } from '../config/postgres-config.ts';
import type { KeyRing } from '../keys/keyring.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { areHere, type PostgresAddress, parsePostgresUrl } from './postgres/client/postgres-address.ts';
import { restoreSqliteStore } from './sqlite/maintenance/restore.ts';
import { vacuumSqliteStore } from './sqlite/maintenance/vacuum.ts';
import { fileFault } from './sqlite/migrations/migrate.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';
import type { Store } from './store.ts';

type StoreConfig = Pick<Config, 'dataDir' | 'autoDisable' | 'environment' | 'postgres'>;

/** Returns the file of the store on SQLite. */
export function storeFile({ dataDir }: Pick<StoreConfig, 'dataDir'>): string {
  return join(dataDir, 'store.db');
}

/** Returns why this build cannot use the store's file, in one line with what helps; undefined when it can. */
export function storeFileFault(config: Pick<StoreConfig, 'dataDir'>): string | undefined {
  return fileFault(storeFile(config));
}

/**
 * Opens the store; the only place that chooses its engine. In the sandbox the database is migrated first. `keyRing`
 * seals the records that are changed; null in a process that changes none. Rejects with one line for an operator.
 */
export async function openStore(
  config: StoreConfig,
  clock: Clock,
  log: Logger,
  keyRing: KeyRing | null = null,
): Promise<Store> {
  const { postgres, autoDisable: healthPolicy, environment } = config;
  if (!postgres) return openSqliteStore({ file: storeFile(config), clock, healthPolicy, log, keyRing });
  if (environment === 'sandbox') await migrateStore({ postgres }, clock);
  const { openPostgresStore } = await import('./postgres/postgres-store.ts');
  const { connectionsMax, leafMs, logCommit, replication } = postgres;
  const address = addressOf(postgres);
  if (environment === 'production') {
    const { checkReplication } = await import('./postgres/client/replication.ts');
    await checkReplication(address, replication, clock);
    const { warnOfRights } = await import('./postgres/migrations/grants.ts');
    await warnOfRights(address, clock, log);
  }
  return openPostgresStore({ address, clock, connectionsMax, healthPolicy, leafMs, logCommit, log, keyRing });
}

/** Returns whether what the store is asked and answers crosses a network without TLS. */
export function isStorePlain({ postgres }: Pick<StoreConfig, 'postgres'>): boolean {
  if (!postgres) return false;
  const { hosts, ssl } = addressOf(postgres);
  return ssl === false && !areHere(hosts);
}

/**
 * Migrates the database to the layout of this build, while processes of this build and of the one before use it, and grants
 * the running role what it needs. Returns the layout before and after. Rejects with one line for an operator.
 */
export async function migrateStore(
  { postgres }: Pick<StoreConfig, 'postgres'>,
  clock: Clock,
): Promise<{ readonly from: number; readonly to: number }> {
  if (!postgres) throw new ConfigError('a store on SQLite is migrated by the service when it starts');
  const { migrateDatabase } = await import('./postgres/migrations/migrate.ts');
  return migrateDatabase(ownersAddress(postgres), clock, undefined, runningRoleOf(postgres));
}

/**
 * Puts a backup in the place of the store, which no process may have open, with the orders to erase that came after it. Returns the store's file and where the
 * previous one is kept; null where there was none. Throws one line for an operator.
 */
export function restoreStore(
  config: Pick<StoreConfig, 'dataDir' | 'postgres'>,
  from: string,
  at: number,
): { readonly file: string; readonly keptAs: string | null } {
  if (config.postgres)
    throw new ConfigError(
      "a store on PostgreSQL is restored with PostgreSQL's own tools: to a point in time, from a base backup and the WAL archive",
    );
  const file = storeFile(config);
  return { file, keptAs: restoreSqliteStore(file, from, at).keptAs };
}

/**
 * Writes the store anew, without what was deleted and erased: on SQLite while the service is stopped, on PostgreSQL the tables
 * concerned. Returns the names of what was written. Rejects with one line for an operator.
 */
export async function vacuumStore(
  config: Pick<StoreConfig, 'dataDir' | 'postgres'>,
  clock: Clock,
): Promise<readonly string[]> {
  const { postgres } = config;
  if (postgres) {
    const { vacuumDatabase } = await import('./postgres/maintenance/vacuum-database.ts');
    return vacuumDatabase(ownersAddress(postgres), clock, postgres.leafMs);
  }
  const file = storeFile(config);
  return vacuumSqliteStore(file) ? [file] : [];
}

/** Returns the address with the role that runs. */
function addressOf(postgres: PostgresConfig): PostgresAddress {
  return addressIn('HOOKRAIL_POSTGRES_URL', postgres.url, postgres);
}

/** Returns the role that runs. */
export function runningRoleOf(postgres: PostgresConfig): string {
  return addressOf(postgres).user;
}

/** Returns the address with the role that owns the tables. */
export function ownersAddress(postgres: PostgresConfig): PostgresAddress {
  if (postgres.migrateUrl === '') return addressOf(postgres);
  return addressIn('HOOKRAIL_POSTGRES_MIGRATE_URL', postgres.migrateUrl, postgres);
}

function addressIn(name: string, url: string, postgres: PostgresConfig): PostgresAddress {
  const ca = readPostgresCa(postgres);
  try {
    return parsePostgresUrl(url, ca);
  } catch (error) {
    throw new ConfigError(`${name} cannot be used: ${messageOf(error)}`);
  }
}
