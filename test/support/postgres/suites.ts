/**
 * PostgreSQL for tests: the server that HOOKRAIL_TEST_POSTGRES_URL names, where the tests may create databases, else one
 * of this machine (setup.ts), started once for all files. Without one, the tests are skipped and the reason is printed;
 * with HOOKRAIL_REQUIRE_POSTGRES=1 they fail.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { findBinaries } from '../../../scripts/local-postgres/binaries.ts';
import { type LocalPostgres, startLocalPostgres } from '../../../scripts/local-postgres/server.ts';
import { requestRunWide } from '../run-wide.ts';

const OWN_SERVER_MS = 60_000;

export interface PostgresForTests {
  /** Of a user that may create databases and roles. */
  readonly url: string;
}

/** A database that a test has for itself. */
export interface TestDatabase {
  /** Of a user that may do everything. */
  readonly url: string;
  /** Of the role that owns the database and migrates it. */
  readonly owner: string;
  /** Of a role that owns nothing, and gets its rights by the migration. */
  readonly running: string;
  /** Runs statements on it, beside whoever else uses it. */
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Ends every other connection to it, as a crash of its users would. */
  disconnectAll(): Promise<void>;
  drop(): Promise<void>;
}

/** Declares a suite that runs on a PostgreSQL shared with other tests. Must be awaited at the top of a test file. */
export async function describeWithPostgres(
  title: string,
  suite: (createDatabase: () => Promise<TestDatabase>) => void,
): Promise<void> {
  const given = process.env.HOOKRAIL_TEST_POSTGRES_URL;
  const answer = given
    ? { url: given }
    : await requestRunWide<PostgresForTests>(inject('postgresStarterUrl'));
  const missing = 'missing' in answer ? answer.missing : undefined;
  if (missing !== undefined) skipOrThrow(missing);
  const url = 'url' in answer ? answer.url : '';
  describe.skipIf(missing !== undefined)(title, () => suite(() => createDatabase(url)));
}

/** Declares a suite that starts its own PostgreSQL servers. */
export function describeWherePostgresStarts(title: string, suite: () => void): void {
  const found = findBinaries(process.env);
  const missing = 'missing' in found ? found.missing : undefined;
  if (missing !== undefined) skipOrThrow(missing);
  describe.skipIf(missing !== undefined)(title, suite);
}

/**
 * Declares a suite with a PostgreSQL server of its own, which it may kill. `server()` returns it inside hooks and tests.
 * Hooks of the suite that use it end before it does.
 */
export function describeWithOwnPostgres(title: string, suite: (server: () => LocalPostgres) => void): void {
  describeWherePostgresStarts(title, () => {
    let server: LocalPostgres | undefined;
    beforeAll(async () => {
      server = await startLocalPostgres({ environment: process.env });
    }, OWN_SERVER_MS);
    afterAll(() => server?.dispose(), OWN_SERVER_MS);
    suite(() => {
      if (!server) throw new Error('the PostgreSQL of this suite is available only in its hooks and tests');
      return server;
    });
  });
}

function skipOrThrow(reason: string): void {
  if (process.env.HOOKRAIL_REQUIRE_POSTGRES === '1')
    throw new Error(`HOOKRAIL_REQUIRE_POSTGRES=1 is set, but PostgreSQL is not available. ${reason}`);
  console.warn(`PostgreSQL tests are skipped. ${reason}`);
}

/** The roles of all test databases on a server. */
const OWNER = 'hookrail_test_owner';
const RUNNING = 'hookrail_test_running';

function createRole(name: string): string {
  return `DO $$ BEGIN
    CREATE ROLE ${name} LOGIN PASSWORD '${name}';
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- by another test file
  END $$; GRANT ${name} TO current_user`;
}

function urlFor(url: string, role: string): string {
  const changed = new URL(url);
  changed.username = role;
  changed.password = role;
  return changed.href;
}

async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `t${randomBytes(6).toString('hex')}`;
  for (const role of [OWNER, RUNNING]) await once(serverUrl, createRole(role));
  await once(serverUrl, `CREATE DATABASE ${name} OWNER ${OWNER}`);
  const url = serverUrl.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);
  return {
    ...{ url, owner: urlFor(url, OWNER), running: urlFor(url, RUNNING) },
    query: (text, values) => once(url, text, values),
    async disconnectAll() {
      // It waits for their ends: on a busy machine, one may still take a statement after it was told to end.
      const end = 'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1';
      await once(serverUrl, end, [name]);
    },
    async drop() {
      await once(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function once(connectionString: string, text: string, values: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows as readonly Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
