import { type Reads, readsBy } from '../rules/reads.ts';
import type { PostgresDatabase } from './client/postgres-database.ts';

/** The reads that every store has, each on a connection of the database. */
export function readsOn(database: PostgresDatabase): Reads {
  return readsBy((_, rule, args) => database.read((statements) => rule(statements, ...(args as never[]))));
}
