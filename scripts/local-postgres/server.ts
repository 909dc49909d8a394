import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { messageOf } from '../../services/messages/error-message.ts';
import { freePort } from '../free-ports.ts';
import { Guard, spawnGuarded } from '../guard/guard.ts';
import { findBinaries } from './binaries.ts';
import { asServerUser, giveToServerUser } from './server-user.ts';

const SUPERUSER = 'hookrail';
const START_MS_MAX = 30_000;
const STOP_MS_MAX = 30_000;
const POLL_MS = 20;
/** Of the server's output, told when it does not start. */
const OUTPUT_MAX = 4_000;

export interface LocalPostgresOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Settings of postgresql.conf, beside those that it needs. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Copies a primary and follows it, instead of a new database cluster. */
  readonly standbyOf?: LocalPostgres;
  /** The name of the database's superuser; `hookrail` when it is left out. A standby needs that of its primary. */
  readonly superuser?: string;
  /** Any free one when it is left out. */
  readonly port?: number;
  /** Keeps the files in this folder for the next start; a temporary folder when it is left out. */
  readonly folder?: string;
}

/** A PostgreSQL server on 127.0.0.1; any local user may connect. It ends with this process, however that ends. */
export interface LocalPostgres {
  readonly port: number;
  /** Its host is 127.0.0.1; use `?host=` with this for the Unix socket. */
  readonly folder: string;
  /** Undefined while it does not run. */
  readonly pid: number | undefined;
  url(database?: string): string;
  /** Starts it again after `stop` or `kill`. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Ends it as an administrator does: connections are closed, everything is written. */
  stop(): Promise<void>;
  /** Ends the server and all its processes with SIGKILL. */
  kill(): Promise<void>;
  /** Pauses the server and all its processes with SIGSTOP: they hang with their connections open. */
  pause(): void;
  /** Resumes them with SIGCONT. */
  resume(): void;
  /** Makes a standby the primary. Resolves when it accepts writes. */
  promote(): Promise<void>;
  /** Stops it, and deletes its files if they are in a temporary folder. */
  dispose(): Promise<void>;
}

/** Creates the files and starts the server. Rejects with one line when there is no PostgreSQL, or it does not start. */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const binaries = findBinaries(options.environment);
  if ('missing' in binaries) throw new Error(binaries.missing);
  if (options.folder !== undefined) mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'hookrail-postgres-'));
  if (options.folder === undefined) Guard.ofProcess().removeAtEnd(folder);
  const server = new Server(binaries.folder, folder, options.port ?? (await freePort()), options);
  try {
    await server.create();
    await server.start();
    return server;
  } catch (error) {
    await server.dispose();
    throw error;
  }
}

class Server implements LocalPostgres {
  readonly port: number;
  readonly folder: string;
  readonly #binaries: string;
  readonly #data: string;
  readonly #options: LocalPostgresOptions;
  #child: ChildProcess | null = null;
  #output = '';

  constructor(binaries: string, folder: string, port: number, options: LocalPostgresOptions) {
    this.#binaries = binaries;
    this.folder = folder;
    this.#data = join(folder, 'data');
    this.port = port;
    this.#options = options;
    giveToServerUser(folder);
  }

  get #superuser(): string {
    return this.#options.superuser ?? SUPERUSER;
  }

  get pid(): number | undefined {
    return this.#child?.exitCode === null && this.#child.signalCode === null ? this.#child.pid : undefined;
  }

  url(database = 'postgres'): string {
    return `postgres://${this.#superuser}@127.0.0.1:${this.port}/${database}`;
  }

  async create(): Promise<void> {
    if (existsSync(join(this.#data, 'PG_VERSION'))) return;
    const { standbyOf } = this.#options;
    if (standbyOf) {
      const from = ['-h', '127.0.0.1', '-p', `${standbyOf.port}`, '-U', this.#superuser];
      await this.#run('pg_basebackup', [...from, '-D', this.#data, '-R', '-X', 'stream', '-c', 'fast']);
      return;
    }
    const locale = ['-E', 'UTF8', '--locale', 'C.UTF-8'];
    await this.#run('initdb', [
      '-D',
      this.#data,
      '-U',
      this.#superuser,
      '-A',
      'trust',
      '--no-sync',
      ...locale,
    ]);
  }

  async start(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: `${this.port}`,
      unix_socket_directories: this.folder,
      log_min_messages: 'warning',
      ...this.#options.settings,
    };
    const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const [command, ...args] = asServerUser(join(this.#binaries, 'postgres'), ['-D', this.#data, ...given]);
    this.#output = '';
    const child = spawnGuarded(command, args, { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        this.#output = (this.#output + chunk).slice(-OUTPUT_MAX);
      });
    this.#child = child;
    await this.#untilItAccepts();
  }

  async stop(): Promise<void> {
    // "Fast": it does not wait for clients.
    await this.#end(() => this.#child?.kill('SIGINT'));
  }

  async kill(): Promise<void> {
    // Those of its processes that are left keep the next server from starting.
    await this.#end((pid) => signalAll(pid, 'SIGKILL'));
  }

  pause(): void {
    if (this.pid !== undefined) signalAll(this.pid, 'SIGSTOP');
  }

  resume(): void {
    if (this.pid !== undefined) signalAll(this.pid, 'SIGCONT');
  }

  async promote(): Promise<void> {
    await this.#run('pg_ctl', ['promote', '-D', this.#data, '-w']);
  }

  async dispose(): Promise<void> {
    await this.#end((pid) => process.kill(pid, 'SIGQUIT'));
    if (this.#options.folder === undefined) rmSync(this.folder, { recursive: true, force: true });
  }

  async #end(ask: (pid: number) => void): Promise<void> {
    const { pid } = this;
    if (pid === undefined) return;
    const ended = new Promise((resolve) => this.#child?.once('exit', resolve));
    ask(pid);
    const late = sleep(STOP_MS_MAX, 'late', { ref: false });
    if ((await Promise.race([ended, late])) === 'late')
      throw new Error(`PostgreSQL (pid ${pid}) did not end within ${STOP_MS_MAX / 1000} s`);
  }

  async #untilItAccepts(): Promise<void> {
    const until = performance.now() + START_MS_MAX;
    for (;;) {
      const client = new pg.Client({ connectionString: this.url() });
      try {
        await client.connect();
        return;
      } catch (error) {
        if (this.pid === undefined || performance.now() > until)
          throw new Error(`PostgreSQL did not start (${messageOf(error)}): ${this.#output.trim()}`);
      } finally {
        await client.end().catch(() => {});
      }
      await sleep(POLL_MS);
    }
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    const [command, ...rest] = asServerUser(join(this.#binaries, program), args);
    await promisify(execFile)(command, rest, { cwd: this.folder });
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The name of the program, in parentheses, may contain spaces.
      const [, parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return Number(parent) === pid ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** Signals the server first: it starts no other process meanwhile. */
function signalAll(pid: number, signal: NodeJS.Signals): void {
  tryToSignal(pid, signal);
  for (const child of childrenOf(pid)) tryToSignal(child, signal);
}

function tryToSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
