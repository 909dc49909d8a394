import type { Statements } from '../../sql/statements.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';

/** The state of a copy that fills the database (services/store/copy): what it copied and this commit together. */
export interface CopyState {
  /** The SQLite store that is copied. */
  readonly file: string;
  /** The tables that are copied. */
  readonly tables: readonly string[];
  /** All of them were compared, and are the same. */
  readonly isComplete: boolean;
}

const NAME = 'copy';

/** Returns the state of the copy, undefined when none was begun. */
export async function readCopyState({ first }: Statements): Promise<CopyState | undefined> {
  const row = await first<{ readonly value: string }>('SELECT value FROM meta WHERE name = $1', [NAME]);
  return row && (JSON.parse(row.value) as CopyState);
}

export async function writeCopyState({ change }: Statements, state: CopyState): Promise<void> {
  await change('INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value', [
    NAME,
    JSON.stringify(state),
  ]);
}

/** Throws one line when the database has a part of a store only: a service on it would lack the rest. */
export async function refuseUnfinishedCopy(database: PostgresDatabase): Promise<void> {
  const state = await database.read(readCopyState);
  if (state && !state.isComplete)
    throw new Error(
      `the copy of ${state.file} into this database has not ended: run hookrail operator store copy again`,
    );
}
