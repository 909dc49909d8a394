import { createHash } from 'node:crypto';
import type { Clock } from '../../../process/clock.ts';
import type { Statements } from '../../sql/statements.ts';
import type { PostgresAddress } from '../client/postgres-address.ts';
import { PostgresDatabase } from '../client/postgres-database.ts';
import { grantRunning } from './grants.ts';
import { logTables } from './log-tables.ts';
import { managementTables } from './management-tables.ts';
import { runningRole } from './running-role.ts';
import { carryOut, type Step } from './steps.ts';

export interface Migration {
  readonly steps: readonly Step[];
  /**
   * The oldest layout whose builds go on while and after it is applied, so that processes are replaced one by one. A
   * column is dropped one release after the last build that reads it.
   */
  readonly worksWith: number;
}

const change = (sql: string): Step => ({ kind: 'change', sql });

/** All migrations in order; the n-th makes layout n. Nothing is released yet: a change of the tables edits the first. */
export const MIGRATIONS: readonly Migration[] = [
  { steps: [change(managementTables), change(logTables), change(runningRole)], worksWith: 1 },
];

/** The name of the advisory lock of migrations: one process migrates at a time. */
const LOCK = "hashtextextended('hookrail migration', 0)";
/** Building an index may take hours. */
const QUERY_MS = 24 * 3_600_000;

/**
 * Migrates the database at an address, with connections of its own. `runningRole`: a role that gets what running processes
 * need; without one, or when it is the address's own, they run with the role that migrates.
 */
export async function migrateDatabase(
  address: PostgresAddress,
  clock: Clock,
  migrations: readonly Migration[] = MIGRATIONS,
  runningRole: string = address.user,
): ReturnType<typeof migrate> {
  const options = { address, clock, queryMs: QUERY_MS, applicationName: 'hookrail migration' };
  const database = new PostgresDatabase({ ...options, connectionsMax: 2 });
  try {
    const migrated = await migrate(database, clock, migrations);
    if (runningRole !== address.user) await grantRunning(database, runningRole);
    return migrated;
  } finally {
    await database.close();
  }
}

/**
 * Migrates the database to the newest layout, step by step, while readers and writers go on. One that was cut off goes
 * on with the step at which it was. Returns the layout before and after. Throws when a newer build has migrated it, or
 * when it would have to migrate through PgBouncer.
 */
export async function migrate(
  database: PostgresDatabase,
  clock: Pick<Clock, 'sleep'>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<{ readonly from: number; readonly to: number }> {
  const { version, worksWith } = await layoutOf(database, migrations);
  if (version === migrations.length) return { from: version, to: version };
  // One that was cut off has begun to make tables.
  if (worksWith > 0) await refuseForeign(database);
  // A pooler keeps the session, and with it the lock, for other clients.
  if (await database.isPooled()) throw new Error(POOLED);
  // A lock of the session, which ends with it.
  return database.alone(async ({ rows }) => {
    await rows(`SELECT pg_advisory_lock(${LOCK})`);
    try {
      return await applyAll(database, clock, migrations);
    } finally {
      await rows(`SELECT pg_advisory_unlock(${LOCK})`);
    }
  });
}

const POOLED =
  'a database is not migrated through PgBouncer or another pooler: run hookrail operator store migrate with the server itself in HOOKRAIL_POSTGRES_MIGRATE_URL (or HOOKRAIL_POSTGRES_URL)';

async function applyAll(
  database: PostgresDatabase,
  clock: Pick<Clock, 'sleep'>,
  migrations: readonly Migration[],
): Promise<{ readonly from: number; readonly to: number }> {
  await database.transaction((tx) => tx.rows(LAYOUT));
  const { version: from } = await layoutOf(database, migrations);
  if (from > migrations.length)
    throw new Error(
      `the database has layout ${from}, this build knows up to ${migrations.length}: run the newer build`,
    );
  for (let version = from + 1; version <= migrations.length; version += 1) {
    const { steps, worksWith } = migrations[version - 1] as Migration;
    const begin = 'INSERT INTO layout VALUES ($1, $2, 0, NULL, $3) ON CONFLICT DO NOTHING';
    await database.transaction((tx) => tx.change(begin, [version, worksWith, idOf(migrations)]));
    const done = await database.read(({ first }) =>
      first<{ readonly steps: number }>('SELECT steps FROM layout WHERE version = $1', [version]),
    );
    for (const [at, step] of steps.entries()) {
      if (at < (done?.steps ?? 0)) continue;
      const applied = at === steps.length - 1 ? ', applied_at = now()' : '';
      await carryOut(database, step, {
        sleep: (ms) => clock.sleep(ms),
        done: `UPDATE layout SET steps = ${at + 1}${applied} WHERE version = ${version}`,
      });
    }
  }
  return { from, to: migrations.length };
}

/** `steps`: how many were carried out; `applied_at`: null until all were; `first_id`: stands for the first migration. */
const LAYOUT = `CREATE TABLE IF NOT EXISTS layout (
  version int PRIMARY KEY, works_with int NOT NULL, steps int NOT NULL, applied_at timestamptz, first_id text)`;

/** Returns what stands for the first migration: a build knows by it the databases of builds that made other tables. */
function idOf([first]: readonly Migration[]): string {
  return createHash('sha256').update(JSON.stringify(first?.steps)).digest('hex').slice(0, 8);
}

/** The layout of a database. */
export interface Layout {
  /** The number of migrations applied; 0 when there is none. */
  readonly version: number;
  /** The oldest layout whose builds may use it, once a migration that has begun is applied. */
  readonly worksWith: number;
}

/** Rejects with one line, with what helps, when another build has made the tables, or the role may not see them. */
export async function layoutOf(
  database: PostgresDatabase,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Layout> {
  const access = await layoutAccess(database);
  if (!access) return { version: 0, worksWith: 0 };
  if (!access.mayRead)
    throw new Error(
      `the role ${access.role} was not granted the tables: run hookrail operator store migrate with ` +
        `HOOKRAIL_POSTGRES_MIGRATE_URL, of the role ${access.owner}, and ${access.role} in HOOKRAIL_POSTGRES_URL`,
    );
  const { firstId, ...layout } = await database.read(layoutIn);
  const id = idOf(migrations);
  if (layout.worksWith > 0 && firstId !== id)
    throw new Error(
      `the tables of the database are of another build (layout ${firstId ?? 'unknown'}, this one has ${id}), and before ` +
        '0.1.0 no build uses those of another: run that build, or make another database (createdb) and name it in ' +
        'HOOKRAIL_POSTGRES_URL',
    );
  return layout;
}

interface LayoutAccess {
  readonly role: string;
  readonly owner: string;
  readonly owns: boolean;
  readonly mayRead: boolean;
}

/** Returns what the role of this connection may do with the table of layouts; undefined when there is none. */
function layoutAccess(database: PostgresDatabase): Promise<LayoutAccess | undefined> {
  return database.read(({ first }) =>
    first<LayoutAccess>(
      `SELECT current_user::text AS role, pg_get_userbyid(relowner) AS owner, pg_has_role(relowner, 'USAGE') AS owns,
       has_table_privilege(oid, 'SELECT') AS "mayRead" FROM pg_class WHERE oid = to_regclass('layout')`,
    ),
  );
}

/** Refuses before anything is done: a role that does not own the tables would fail at the first change of one. */
async function refuseForeign(database: PostgresDatabase): Promise<void> {
  const access = await layoutAccess(database);
  if (!access || access.owns) return;
  throw new Error(
    `the role ${access.role} does not own the tables, and cannot migrate them: run hookrail operator store migrate with ` +
      `HOOKRAIL_POSTGRES_MIGRATE_URL, of the role ${access.owner}`,
  );
}

async function layoutIn({ first }: Statements): Promise<Layout & { readonly firstId: string | null }> {
  // As JSON: the tables of another build may lack a column.
  const row = await first<Layout & { readonly firstId: string | null }>(
    `SELECT coalesce(max(version) FILTER (WHERE applied_at IS NOT NULL), 0)::int AS version,
     coalesce(max(works_with), 0)::int AS "worksWith",
     max(to_jsonb(layout) ->> 'first_id') FILTER (WHERE version = 1) AS "firstId" FROM layout`,
  );
  return row ?? { version: 0, worksWith: 0, firstId: null };
}

/** Throws one line, with the command that helps, when a build with these migrations cannot use the database. */
export async function checkLayout(
  database: PostgresDatabase,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const { version, worksWith } = await layoutOf(database, migrations);
  const needed = migrations.length;
  if (version < needed)
    throw new Error(
      `the database has layout ${version}, this build needs ${needed}: migrate it with hookrail operator store migrate`,
    );
  if (worksWith > needed)
    throw new Error(
      `the database has layout ${version}, for builds that know layout ${worksWith} or newer; this one knows ${needed}: run the newer build`,
    );
}
