import type { Clock } from '../../process/clock.ts';
import type { PostgresAddress } from '../postgres/client/postgres-address.ts';
import type { PostgresDatabase } from '../postgres/client/postgres-database.ts';
import { checkLayout, migrateDatabase } from '../postgres/migrations/migrate.ts';
import { CopyRefused } from './copy-refused.ts';
import { type CopyState, readState } from './copy-state.ts';

const EMPTY = 'give an empty database, for example of CREATE DATABASE hookrail';

interface Target {
  readonly database: PostgresDatabase;
  readonly address: PostgresAddress;
  readonly runningRole: string | undefined;
  readonly clock: Clock;
}

/**
 * Prepares the database: an empty one is migrated. Returns the state of the copy that has begun to fill it, undefined for
 * a new one. Throws, in one line, when its layout does not fit, or it has the data of another store.
 */
export async function prepareTarget({
  database,
  address,
  runningRole,
  clock,
}: Target): Promise<CopyState | undefined> {
  const tables = await database.read(({ rows }) =>
    rows<{ readonly tablename: string }>(
      'SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename',
    ),
  );
  const names = tables.map(({ tablename }) => tablename);
  if (names.length > 0 && !names.includes('layout'))
    throw new CopyRefused(`the database has a table "${names[0]}" that is not hookrail's: ${EMPTY}`);
  if (names.length === 0) await migrateDatabase(address, clock, undefined, runningRole);
  await checkLayout(database);
  return database.read(async (statements) => {
    const state = await readState(statements);
    // A service that runs on it, or has done so, has taken a lease.
    if (await statements.first('SELECT 1 FROM lease LIMIT 1'))
      throw new CopyRefused(
        `a service has run on this database, and a copy would overwrite what it stored: ${EMPTY}`,
      );
    if (state === undefined && (await statements.first(HAS_ROWS)))
      throw new CopyRefused(`the database has the data of another store: ${EMPTY}`);
    return state;
  });
}

const HAS_ROWS = ['merchant', 'api_key', 'endpoint', 'audit', 'log_merchant', 'journal_position']
  .map((table) => `(SELECT 1 FROM ${table} LIMIT 1)`)
  .join(' UNION ALL ');
