import pg from 'pg';
import { type LocalPostgres, startLocalPostgres } from '../../../../scripts/local-postgres/server.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { migrateDatabase } from '../../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../../services/store/postgres/postgres-store.ts';
import type { Store } from '../../../../services/store/store.ts';
import type { Logger } from '../../../../services/telemetry/logger.ts';
import { TEST_POLICY } from '../../../contract/store-place.ts';
import { eventually } from '../../../support/eventually.ts';
import { HOUR_MS } from '../../../support/records/journal-entries.ts';
import { TEST_RING } from '../../../support/records/key-ring.ts';

const CONNECTIONS_MAX = 3;

/** A migrated primary with an asynchronous standby, and stores of several processes on them. */
export interface ServerPair {
  readonly primary: LocalPostgres;
  readonly standby: LocalPostgres;
  /** Opens a store that knows both; `url` names other hosts. */
  open(options?: { readonly url?: string; readonly log?: Logger }): Promise<Store>;
  /** Promotes the standby after a crash of the primary. What was committed while `work` ran is lost, and nothing before. */
  failOver(work: () => Promise<void>): Promise<void>;
  dispose(): Promise<void>;
}

export async function startServerPair(): Promise<ServerPair> {
  const clock = systemClock();
  const environment = process.env;
  const primary = await startLocalPostgres({ environment });
  const standby = await startMigrated(primary).catch(async (error) => {
    await primary.dispose();
    throw error;
  });
  const stores: Store[] = [];
  return {
    primary,
    standby,
    async open({ url = urlOf(primary, standby), log } = {}) {
      const store = await openPostgresStore({
        ...{ address: parsePostgresUrl(url, undefined), clock, connectionsMax: CONNECTIONS_MAX },
        ...{ healthPolicy: TEST_POLICY, keyRing: TEST_RING, leafMs: HOUR_MS },
        ...(log ? { log } : {}),
      });
      stores.push(store);
      return store;
    },
    async failOver(work) {
      await hasAll(primary);
      await standby.stop();
      await work();
      await primary.kill();
      await standby.start();
      await standby.promote();
    },
    async dispose() {
      await Promise.all(stores.map((store) => store.close()));
      await standby.dispose();
      await primary.dispose();
    },
  };

  async function startMigrated(of: LocalPostgres): Promise<LocalPostgres> {
    await migrateServer(of);
    return startLocalPostgres({ environment, standbyOf: of });
  }
}

/** Polls until the standby has on its disk whatever the primary has committed. */
async function hasAll(primary: LocalPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url() });
  await client.connect();
  try {
    await eventually('the standby has everything', async () => {
      const { rows } = await client.query(
        'SELECT count(*) > 0 AND bool_and(flush_lsn >= pg_current_wal_flush_lsn()) AS all FROM pg_stat_replication',
      );
      return rows[0].all === true;
    });
  } finally {
    await client.end();
  }
}

/** Migrates the server's database. */
export async function migrateServer(server: LocalPostgres): Promise<void> {
  await migrateDatabase(parsePostgresUrl(server.url(), undefined), systemClock());
}

/** Returns a URL that names these servers, in this order. */
export function urlOf(...servers: readonly Pick<LocalPostgres, 'port'>[]): string {
  return `postgres://hookrail@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`;
}
