import pg from 'pg';
import { eventually } from '../../../support/eventually.ts';
import type { TestDatabase } from '../../../support/postgres/suites.ts';

/** Finds the sessions of the database that wait for a lock. */
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Locks the table, begins both, and releases the lock once both wait for it or for each other. */
export async function meet<A, B>(
  database: TestDatabase,
  table: string,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query(`BEGIN; LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
  const waiting = async () => (await database.query(WAITING)).length;
  const one = first();
  one.catch(() => {});
  // Otherwise the second might be over before the first begins.
  await eventually('the first waits', async () => (await waiting()) >= 1);
  const both = Promise.all([one, second()]);
  both.catch(() => {});
  await eventually('both wait', async () => (await waiting()) >= 2);
  await holder.end();
  return both;
}
