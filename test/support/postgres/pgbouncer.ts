/**
 * PgBouncer in transaction mode for tests, where this machine has it (Debian: pgbouncer). Without it the suites are skipped
 * and the reason is printed; with HOOKRAIL_REQUIRE_PGBOUNCER=1 they fail.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { describe } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { spawnGuarded } from '../../../scripts/guard/guard.ts';
import { asServerUser, giveToServerUser } from '../../../scripts/local-postgres/server-user.ts';
import { eventually } from '../eventually.ts';

export interface PgBouncer {
  /** Returns the URL of a database of its server, through PgBouncer. */
  through(url: string): string;
  stop(): Promise<void>;
}

/** Fewer than the clients of a test have: each of their transactions gets the connection that is free. */
const SERVER_CONNECTIONS = 4;

/** Declares a suite that starts PgBouncer. */
export function describeWherePgBouncerStarts(title: string, suite: () => void): void {
  const isThere = program() !== undefined;
  if (!isThere) {
    const how = 'PgBouncer is missing (Debian: apt-get install pgbouncer)';
    if (process.env.HOOKRAIL_REQUIRE_PGBOUNCER === '1')
      throw new Error(`HOOKRAIL_REQUIRE_PGBOUNCER=1: ${how}`);
    console.warn(`The store is not tested through PgBouncer: ${how}.`);
  }
  describe.skipIf(!isThere)(title, suite);
}

/** Starts it before the server of this URL, whose users may connect without a password. */
export async function startPgBouncer(serverUrl: string): Promise<PgBouncer> {
  const { hostname, port, username } = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-pgbouncer-'));
  giveToServerUser(folder);
  const own = await freePort();
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${port} user=${username} pool_size=${SERVER_CONNECTIONS}
[pgbouncer]
pool_mode = transaction
auth_type = any
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
max_client_conn = 500
; A connection is tested before each use, so that one whose server process was ended is not handed out.
server_check_delay = 0
`,
  );
  giveToServerUser(settings);
  const [command, ...args] = asServerUser(program() ?? 'pgbouncer', ['-q', settings]);
  const child = spawnGuarded(command, args, { cwd: folder, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const through = (url: string) => {
    const changed = new URL(url);
    changed.port = `${own}`;
    return changed.href;
  };
  const stop = async () => {
    child.kill('SIGQUIT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually('PgBouncer accepts connections', () => answers(through(serverUrl)));
  } catch (error) {
    await stop();
    throw error;
  }
  return { through, stop };
}

function program(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders
    .map((folder) => join(folder, 'pgbouncer'))
    .find((path) => existsSync(path) && spawnSync(path, ['--version']).status === 0);
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
