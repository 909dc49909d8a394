import { bind } from '../rules/bind.ts';
import { READS, type Reads } from '../rules/reads.ts';
import { WRITES, type Writes } from '../rules/writes.ts';
import type { PostgresDatabase } from './client/postgres-database.ts';
import type { Leaves } from './leaves/leaves.ts';

/** The reads that every store has, each on a connection of the database. */
export function readsOn(database: PostgresDatabase): Reads {
  return bind(READS, (_, rule, args) =>
    database.read((statements) => rule(statements as never, ...(args as never[]))),
  );
}

/** The changes that every store has, each in a transaction. */
export function writesOn(database: PostgresDatabase, leaves: Leaves): Writes {
  return bind(WRITES, async (name, rule, args) => {
    const at = REPORTED.test(name) ? timeOf(args) : undefined;
    if (at !== undefined) await leaves.ensureAt(at);
    return database.transaction((tx) => rule(tx as never, ...(args as never[])));
  });
}

/** The feed reports these with their times, for which there is a leaf by then. */
const REPORTED = /^(endpoints\.|outbox\.adopt$)/;

/** The time of a change is its last argument, or in the options at its end. */
function timeOf(args: readonly unknown[]): number | undefined {
  const last = args.at(-1);
  const at = typeof last === 'object' && last !== null && 'at' in last ? last.at : last;
  return typeof at === 'number' ? at : undefined;
}
