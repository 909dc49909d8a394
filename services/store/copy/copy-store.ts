import { resolve } from 'node:path';
import type Database from 'better-sqlite3';
import type { Clock } from '../../process/clock.ts';
import type { PostgresAddress } from '../postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../postgres/client/postgres-database.ts';
import { Leaves } from '../postgres/leaves/leaves.ts';
import { BLOCK } from '../postgres/log/numbers.ts';
import { type CopyState, writeCopyState } from '../postgres/maintenance/copy-state.ts';
import type { Statements } from '../sql/statements.ts';
import { CopiedTable, type Table } from './copied-table.ts';
import { openSource } from './source.ts';
import { NOT_COPIED, OTHER_COLUMNS } from './table-forms.ts';
import { prepareTarget } from './target.ts';

export interface CopyOptions {
  /** The SQLite store. */
  readonly file: string;
  /** PostgreSQL, with the role that owns the tables. */
  readonly address: PostgresAddress;
  /** The role that the service will have. */
  readonly runningRole: string;
  /** The span of a leaf of the log, milliseconds, as the service will have it. */
  readonly leafMs: number;
  readonly clock: Clock;
  readonly tell: (line: string) => void;
}

export interface CopyResult {
  /** By table: the number of rows, which are the same in both stores. */
  readonly rows: Readonly<Record<string, number>>;
  readonly tookMs: number;
}

/** One that writes and one that makes leaves. */
const CONNECTIONS_MAX = 2;
const QUERY_MS = 24 * 3_600_000;
/** Deliveries that are copied and compared in a second, with what belongs to them (docs/operate/tasks.md). */
const DELIVERIES_PER_S = 5_000;
/** Rows between two lines that tell the progress. */
const TOLD_EVERY = 250_000;

interface Deps extends CopyOptions {
  readonly db: Database.Database;
  readonly database: PostgresDatabase;
}

/**
 * Copies a SQLite store, which no service uses, to PostgreSQL, table by table, and compares all rows. May be called again
 * after it was cut off: the table that was not whole is begun anew. The source is not changed. Rejects with one line for an
 * operator.
 */
export async function copyStore(options: CopyOptions): Promise<CopyResult> {
  const { address, clock } = options;
  const file = resolve(options.file);
  const source = openSource(file);
  const database = new PostgresDatabase({
    ...{ address, clock, connectionsMax: CONNECTIONS_MAX, applicationName: 'hookrail store copy' },
    queryMs: QUERY_MS,
  });
  const startedAt = clock.now();
  try {
    const deps = { ...options, file, database, db: source.db };
    const { tables, state } = await prepareTarget(deps);
    const rows = await copyTables(deps, tables, state);
    return { rows, tookMs: clock.now() - startedAt };
  } finally {
    await database.close();
    source.close();
  }
}

async function copyTables(
  deps: Deps,
  found: readonly Table[],
  begun: CopyState,
): Promise<CopyResult['rows']> {
  const { db, database, tell } = deps;
  refuseUnknown(db, found);
  const tables = found.map((table) => new CopiedTable(db, table));
  const deliveries = db.prepare('SELECT count(*) FROM delivery').pluck().get() as number;
  const minutes = Math.ceil(deliveries / DELIVERIES_PER_S / 60);
  tell(`copies and compares ${deliveries} deliveries: about ${minutes} min; the API is away meanwhile`);
  let state = begun;
  await database.transaction((tx) => writeCopyState(tx, state));
  await makeLeaves(deps);
  for (const table of tables)
    if (!state.tables.includes(table.name)) state = await copyTable(deps, table, state);
  await database.transaction((tx) => setNumbers(tx, db, tables));
  await database.alone(analyse);
  return compareTables(deps, tables, state);
}

/** Refuses a SQLite store with a table or column that would not be copied. */
function refuseUnknown(db: Database.Database, tables: readonly Table[]): void {
  const known = new Map(tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]));
  const columns = db.prepare(
    `SELECT m.name AS "table", c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
     WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  );
  for (const { table, name } of columns.all() as { readonly table: string; readonly name: string }[]) {
    if ((NOT_COPIED.sqlite as readonly string[]).includes(table)) continue;
    if (known.get(table)?.includes(name) || OTHER_COLUMNS[table]?.includes(name)) continue;
    throw new Error(
      `PostgreSQL has no place for ${table}.${name} of the SQLite store: add it to services/store/copy/table-forms.ts`,
    );
  }
}

async function makeLeaves({ db, database, leafMs }: Deps): Promise<void> {
  const times = db.prepare(
    `SELECT DISTINCT at / ${leafMs} * ${leafMs} FROM (SELECT created_at AS at FROM event UNION ALL
     SELECT created_at FROM delivery UNION ALL SELECT at FROM feed UNION ALL SELECT created_at FROM tally)`,
  );
  await new Leaves(database, leafMs).ensureAt(...(times.pluck().all() as number[]));
}

/** Copies a table, in one transaction with the state that says so. Returns the state. */
async function copyTable(
  { database, tell }: Deps,
  table: CopiedTable,
  before: CopyState,
): Promise<CopyState> {
  const state = { ...before, tables: [...before.tables, table.name], isComplete: false };
  return database.transaction(async (tx) => {
    // Gives back the space of what was cut off, too.
    await tx.rows(`TRUNCATE ${table.name}`);
    let rows = 0;
    const parts = table.parts((_, count) => {
      rows = count;
      if (count % TOLD_EVERY === 0) tell(`${table.name}: ${count} rows`);
    });
    await tx.copyAll(table.into, parts).catch((error) => {
      const { detail } = error as { readonly detail?: string };
      throw detail ? new Error(`PostgreSQL refuses a row of ${table.name}: ${detail}`) : error;
    });
    await writeCopyState(tx, state);
    tell(`${table.name}: copied, ${rows} rows`);
    return state;
  });
}

/** Sets the numbers that the database gives next above those that are in use or were: a published outbox id is remembered. */
async function setNumbers(
  tx: Statements,
  db: Database.Database,
  tables: readonly CopiedTable[],
): Promise<void> {
  const used = db.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck();
  for (const { name, numbered } of tables)
    for (const column of numbered)
      await tx.rows(
        `SELECT setval(pg_get_serial_sequence($1, $2)::regclass, greatest(max(${column}), $3::bigint) + 1, false)
         FROM ${name}`,
        [name, column, used.get(name) ?? 0],
      );
  const rows = db.prepare(
    'SELECT max((SELECT coalesce(max(seq), 0) FROM event), (SELECT coalesce(max(seq), 0) FROM delivery))',
  );
  const block = Math.floor((rows.pluck().get() as number) / BLOCK) + 1;
  await tx.rows("SELECT setval('log_block', $1)", [block]);
}

/** Collects what the planner needs: until autovacuum comes, it would know nothing of the new rows. */
async function analyse({ first, rows }: Statements): Promise<void> {
  const filled = await first<{ readonly names: string }>(
    `SELECT string_agg(oid::regclass::text, ', ') AS names FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
  );
  await rows(`ANALYZE ${filled?.names}`);
}

/** Compares all rows of both stores. A table that differs is copied anew by the next call. */
async function compareTables(
  { database, tell }: Deps,
  tables: readonly CopiedTable[],
  state: CopyState,
): Promise<CopyResult['rows']> {
  const same: Record<string, number> = {};
  const differences: string[] = [];
  for (const table of tables) {
    // The server reads its rows meanwhile.
    const [there, here] = await Promise.all([
      database.alone((statements) => table.found(statements)),
      table.expected((count) => count % TOLD_EVERY === 0 && tell(`${table.name}: ${count} rows compared`)),
    ]);
    if (here.rows === there.rows && here.sum === there.sum) same[table.name] = here.rows;
    else differences.push(`${table.name} (${here.rows} rows, ${there.rows} in PostgreSQL)`);
    tell(`${table.name}: compared, ${here.rows} rows`);
  }
  await database.transaction((tx) =>
    writeCopyState(tx, {
      ...{ file: state.file, tables: Object.keys(same) },
      isComplete: differences.length === 0,
    }),
  );
  if (differences.length === 0) return same;
  throw new Error(
    `the copy differs from the SQLite store: ${differences.join(', ')}; run the command again, which copies that anew`,
  );
}
