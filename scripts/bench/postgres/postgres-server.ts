import { rmSync } from 'node:fs';
import pg from 'pg';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../services/store/postgres/client/postgres-database.ts';
import { Leaves } from '../../../services/store/postgres/leaves/leaves.ts';
import { migrateDatabase } from '../../../services/store/postgres/migrations/migrate.ts';
import { type LocalPostgres, startLocalPostgres } from '../../local-postgres/server.ts';
import { cpuMsOfTree, wallClock } from '../measure.ts';

/** Everything durable, as in production; memory and WAL of a small server. */
const SETTINGS = {
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  synchronous_commit: 'on',
};

const DAY_MS = 86_400_000;
/** The leaves of 30 days, and a few more: statements are planned as in production. */
const LEAVES = 34;

/** A server for measurements on the same machine, with databases of the store's layout. */
export interface BenchPostgres {
  readonly server: LocalPostgres;
  /** Creates and migrates a database, with the leaves of a month. Returns its URL. */
  createDatabase(name: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  /** Runs a statement on a database. */
  query(url: string, text: string): Promise<readonly Record<string, unknown>[]>;
  cpuMs(): number;
  /** Returns the bytes of WAL so far. */
  walBytes(): Promise<number>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

export async function withPostgres<Result>(
  work: (postgres: BenchPostgres) => Promise<Result>,
): Promise<Result> {
  const postgres = await startBenchPostgres();
  try {
    return await work(postgres);
  } finally {
    await postgres.stop();
  }
}

/** Starts a server, which never outlives this process. */
export async function startBenchPostgres(): Promise<BenchPostgres> {
  const server = await startLocalPostgres({ environment: process.env, settings: SETTINGS });
  const endIt = () => {
    if (server.pid !== undefined) process.kill(server.pid, 'SIGQUIT');
    rmSync(server.folder, { recursive: true, force: true });
  };
  process.once('exit', endIt);
  return {
    async stop() {
      process.off('exit', endIt);
      await server.dispose();
    },
    server,
    async createDatabase(name) {
      await query(server.url(), `CREATE DATABASE ${name}`);
      const url = server.url(name);
      const address = parsePostgresUrl(url, undefined);
      await migrateDatabase(address, systemClock());
      const options = { address, clock: systemClock(), connectionsMax: 1, applicationName: 'bench' };
      const database = new PostgresDatabase(options);
      try {
        const days = Array.from({ length: LEAVES }, (_, day) => wallClock() - day * DAY_MS);
        await new Leaves(database, DAY_MS).ensureAt(...days);
      } finally {
        await database.close();
      }
      return url;
    },
    async dropDatabase(name) {
      await query(server.url(), `DROP DATABASE ${name} WITH (FORCE)`);
    },
    query,
    cpuMs: () => cpuMsOfTree(server.pid ?? 0),
    async walBytes() {
      const [row] = await query(server.url(), "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes");
      return Number(row?.bytes);
    },
  };
}

async function query(connectionString: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
