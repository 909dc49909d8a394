import type { Clock } from '../../../process/clock.ts';
import type { PostgresAddress } from './postgres-address.ts';
import { PostgresDatabase } from './postgres-database.ts';

/** `synchronous`: a failover must lose nothing that was acknowledged. */
export type Replication = 'synchronous' | 'asynchronous';

/**
 * Rejects with one line when replication is to be synchronous, and the server acknowledges commits that only it has: for a
 * start in production.
 */
export async function checkReplication(
  address: PostgresAddress,
  replication: Replication,
  clock: Clock,
): Promise<void> {
  if (replication === 'asynchronous') return;
  const database = new PostgresDatabase({
    ...{ address, clock, connectionsMax: 1 },
    applicationName: 'hookrail replication check',
  });
  try {
    const settings = await database.read(({ first }) =>
      first<{ readonly names: string; readonly commit: string }>(
        `SELECT current_setting('synchronous_standby_names') AS names,
         current_setting('synchronous_commit') AS commit`,
      ),
    );
    const { names = '', commit = '' } = settings ?? {};
    if (names === '') throw new Error(`synchronous_standby_names of PostgreSQL is empty${CHOICE}`);
    if (commit === 'off' || commit === 'local')
      throw new Error(`synchronous_commit of PostgreSQL is ${commit}${CHOICE}`);
  } finally {
    await database.close();
  }
}

const CHOICE =
  ': a failover could lose acknowledged changes. Name a standby there, or accept that with HOOKRAIL_POSTGRES_REPLICATION=asynchronous';
