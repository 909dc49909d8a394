import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { Statements } from '../client/statements.ts';
import { management } from './001-management.ts';
import { deliveryLog } from './002-delivery-log.ts';

/** All migrations in order. Never change one that was released: `layout` has the number of those applied. */
export const MIGRATIONS: readonly string[] = [management, deliveryLog];

/** The name of the advisory lock of migrations: one process migrates at a time. */
const LOCK = "hashtextextended('hookrail migration', 0)";

/**
 * Migrates the database to the newest layout, one transaction per migration, so that a crash leaves it between two of
 * them. Returns the layout before and after. Throws when a newer build has migrated it: an older build would lose data
 * that it does not know.
 */
export async function migrate(
  database: PostgresDatabase,
  migrations: readonly string[] = MIGRATIONS,
): Promise<{ readonly from: number; readonly to: number }> {
  const from = await database.transaction(async (tx) => {
    await tx.rows(`SELECT pg_advisory_xact_lock(${LOCK})`);
    await tx.rows(
      'CREATE TABLE IF NOT EXISTS layout (version int PRIMARY KEY, applied_at timestamptz NOT NULL)',
    );
    return layoutIn(tx);
  });
  if (from > migrations.length)
    throw new Error(
      `the database has layout ${from}, this build knows up to ${migrations.length}: run the newer build`,
    );
  let to = from;
  while (to < migrations.length) to = await applyNext(database, migrations);
  return { from, to };
}

/** Applies the next migration, unless another process has done so. Returns the layout afterwards. */
function applyNext(database: PostgresDatabase, migrations: readonly string[]): Promise<number> {
  return database.transaction(async (tx) => {
    await tx.rows(`SELECT pg_advisory_xact_lock(${LOCK})`);
    const layout = await layoutIn(tx);
    const next = migrations[layout];
    if (next === undefined) return layout;
    // Whoever uses a table waits no longer than this; the migration is tried again.
    await tx.rows("SET LOCAL lock_timeout = '2s'");
    await tx.rows(next);
    await tx.change('INSERT INTO layout VALUES ($1, now())', [layout + 1]);
    return layout + 1;
  });
}

/** Returns the layout of the database: the number of migrations applied; 0 when there is none. */
export function layoutOf(database: PostgresDatabase): Promise<number> {
  return database.read(async (statements) => {
    const found = await statements.first<{ readonly name: string | null }>(
      "SELECT to_regclass('layout')::text AS name",
    );
    return found?.name ? layoutIn(statements) : 0;
  });
}

async function layoutIn(statements: Statements): Promise<number> {
  const row = await statements.first<{ readonly version: number }>(
    'SELECT coalesce(max(version), 0)::int AS version FROM layout',
  );
  return row?.version ?? 0;
}
