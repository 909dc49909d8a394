import type { Clock } from '../../process/clock.ts';
import type { PostgresAddress } from '../postgres/client/postgres-address.ts';
import type { PostgresDatabase } from '../postgres/client/postgres-database.ts';
import { checkLeafWidth } from '../postgres/leaves/leaf-width.ts';
import { type CopyState, readCopyState } from '../postgres/maintenance/copy-state.ts';
import { checkLayout, migrateDatabase } from '../postgres/migrations/migrate.ts';
import type { Statements } from '../sql/statements.ts';
import type { Table } from './copied-table.ts';
import { NOT_COPIED } from './table-forms.ts';

const EMPTY = 'give an empty database, for example of CREATE DATABASE hookrail';

interface Target {
  readonly database: PostgresDatabase;
  readonly address: PostgresAddress;
  readonly runningRole: string;
  readonly leafMs: number;
  readonly clock: Clock;
  /** The SQLite store. */
  readonly file: string;
}

/**
 * Prepares the database: an empty one is migrated. Returns its tables, and the state of the copy. Throws, in one line, when
 * its layout does not fit, a service has used it, or it has what was not copied from this store.
 */
export async function prepareTarget(target: Target): Promise<{ tables: readonly Table[]; state: CopyState }> {
  const { database, address, runningRole, clock, file } = target;
  const there = await database.read(tablesOf);
  const [first] = there;
  if (first && !there.some(({ name }) => name === 'layout'))
    throw new Error(`the database has a table "${first.name}" that is not hookrail's: ${EMPTY}`);
  if (!first) await migrateDatabase(address, clock, undefined, runningRole);
  await checkLayout(database);
  const all = await database.read(tablesOf);
  const tables = all.filter(({ name }) => !(NOT_COPIED.postgres as readonly string[]).includes(name));
  const state = await database.read(async (statements) => {
    // A service that runs on it, or has done so, has taken a lease.
    if (await statements.first('SELECT 1 FROM lease LIMIT 1'))
      throw new Error(
        `a service has run on this database, and a copy would overwrite what it stored: ${EMPTY}`,
      );
    const known = await readCopyState(statements);
    const hasRows = tables.map(({ name }) => `EXISTS (SELECT 1 FROM ${name})`).join(' OR ');
    if (known ? known.file !== file : await statements.first(`SELECT 1 WHERE ${hasRows}`))
      throw new Error(`the database has the data of another store than ${file}: ${EMPTY}`);
    return known ?? { file, tables: [], isComplete: false };
  });
  await checkLeafWidth(database, target.leafMs);
  return { tables, state };
}

/** Returns the tables, without leaves, from the catalogue; those of the log, which are large, come last. */
async function tablesOf({ rows }: Statements): Promise<readonly Table[]> {
  return rows<Table>(
    `SELECT c.relname AS name, json_agg(json_build_object('name', a.attname, 'type', t.typname,
     'isNumbered', a.attidentity <> '') ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     AND a.attnum > 0 AND NOT a.attisdropped GROUP BY c.oid ORDER BY c.relkind = 'p', c.relname`,
  );
}
