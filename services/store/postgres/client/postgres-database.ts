import type { PoolClient } from 'pg';
import type { RecordSeals } from '../../../domain/seals/record-seals.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Statements } from '../../sql/statements.ts';
import type { Added } from '../../sql/transaction.ts';
import { StoreUnavailable } from '../../store.ts';
import { changesOn } from './changes.ts';
import { failureOf, sqlStateOf } from './postgres-errors.ts';
import { Primary, type PrimaryOptions } from './primary.ts';
import { copyAllRows, copyRows, statementsOf, type Transaction } from './statements.ts';

/** Attempts at a transaction that conflicts with another one. */
const ATTEMPTS = 3;
const PAUSE_MS = 20;
/** The longest pause between two statements of a transaction. */
const SILENT_MS = 10_000;
/** How long a statement of maintenance may take: it reads a whole leaf, or waits for those who read it. */
export const MAINTENANCE_MS = 3_600_000;
/** The interval of tests whether the server answers again. */
const PROBE_MS = 1_000;
const CHECK = 'check the server and HOOKRAIL_POSTGRES_URL';
const DISK_FULL = '53100';
/** The interval of lines about a full disk. */
const NOTED_EVERY_MS = 60_000;

export interface DatabaseOptions extends PrimaryOptions {
  readonly clock: Clock;
  readonly log?: Logger | undefined;
}

/**
 * Transactions and reads on the primary. They reject with StoreUnavailable when the server cannot be reached or cannot
 * do it now: nothing of a transaction was kept then, or, when its connection was lost during the commit, it is not known.
 */
export class PostgresDatabase {
  readonly #primary: Primary;
  /** All its hosts. */
  readonly #where: string;
  readonly #clock: Clock;
  readonly #log: Logger | undefined;
  #isReachable = true;
  /** Seals the records of transactions; null in a process without the key ring. */
  seals: RecordSeals | null = null;
  /** Called after the commit of a transaction of this process, with what it added. */
  onAdded: (what: Added) => void = () => {};
  /** Writes what a transaction has put into `feed`, before the commit. */
  writeFeed: (transaction: Transaction) => Promise<void> = () => Promise.resolve();
  /**
   * Called when the server is on another timeline than before: of what was read or committed on the last one, some may be
   * lost and given to others, such as numbers.
   */
  set onTimeline(changed: () => void) {
    this.#primary.onTimeline = changed;
  }
  #cancelProbe: (() => void) | null = null;
  #fullDiskNotedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** A connection that allows its statements longer allows it those of maintenance, too. */
  readonly #maintenanceMs: number;

  constructor({ clock, log, ...options }: DatabaseOptions) {
    this.#maintenanceMs = Math.max(MAINTENANCE_MS, options.queryMs ?? 0);
    this.#primary = new Primary(options);
    this.#where = options.address.hosts.map(({ host, port }) => `${host}:${port}`).join(', ');
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether the last call reached the server. While it did not, that is tested every second. */
  get isReachable(): boolean {
    return this.#isReachable;
  }

  get connections() {
    return this.#primary.connections;
  }

  /** Reads, each statement with a snapshot of its own. */
  read<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#watched(() => this.#with((client) => work(statementsOf(client))));
  }

  /** Whether a pooler such as PgBouncer is in between, which names a process of its own to its clients. */
  isPooled(): Promise<boolean> {
    return this.#watched(() =>
      this.#with(async (client) => {
        const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
        return rows[0]?.pid !== (client as { readonly processID?: number }).processID;
      }),
    );
  }

  /** Runs statements of maintenance that cannot be part of a transaction, each on its own. They may take long. */
  alone<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#watched(() => this.#with((client) => work(statementsOf(client, this.#maintenanceMs))));
  }

  /**
   * Runs the work in one transaction (READ COMMITTED), which commits when it resolves. It runs again
   * after a conflict with another transaction. `timeoutMs`: how long each statement may take, ten seconds by default.
   */
  transaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    { timeoutMs }: { readonly timeoutMs?: number } = {},
  ): Promise<T> {
    const at = this.#clock.wall();
    return this.#watched(async () => {
      for (let attempt = 1; ; attempt += 1) {
        const added = new Set<Added>();
        const run = async (client: PoolClient) => {
          const transaction: Transaction = {
            ...changesOn(statementsOf(client, timeoutMs), (name) => this.#primary.sawTimeline(name)),
            at,
            seals: this.seals,
            copy: (table, rows) => copyRows(client, table, rows),
            copyAll: (table, parts) => copyAllRows(client, table, parts),
            added: (what) => void added.add(what),
          };
          const result = await work(transaction);
          if (transaction.feed.length > 0) await this.writeFeed(transaction);
          return result;
        };
        try {
          const result = await this.#with((client) => once(client, run));
          for (const what of added) this.onAdded(what);
          return result;
        } catch (error) {
          if (failureOf(error) !== 'repeat' || attempt === ATTEMPTS) throw error;
          await this.#clock.sleep(attempt * PAUSE_MS);
        }
      }
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelProbe?.();
    await this.#primary.close();
  }

  async #with<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const { client, lost } = await this.#primary.connect();
    // What waits for the connection rejects with the error, too.
    const ignore = () => {};
    client.on('error', ignore);
    let isLost = true;
    try {
      const result = await work(client);
      isLost = false;
      return result;
    } catch (error) {
      isLost = error instanceof CommitUnknown || failureOf(error) === 'lost';
      throw error;
    } finally {
      client.release(isLost);
      client.off('error', ignore);
      if (isLost) lost();
    }
  }

  async #watched<T>(call: () => Promise<T>): Promise<T> {
    try {
      const result = await call();
      this.#answered();
      return result;
    } catch (error) {
      const isUnknown = error instanceof CommitUnknown;
      const failure = isUnknown ? 'lost' : failureOf(error);
      if (failure === 'unique' || failure === 'other') {
        this.#answered();
        throw error;
      }
      if (failure === 'lost') this.#lost(error);
      if (sqlStateOf(error) === DISK_FULL) this.#noteFullDisk(error);
      const state = isUnknown ? 'unknown' : 'away';
      const remedy = failure === 'lost' ? `; ${CHECK}` : '';
      const what = `PostgreSQL at ${this.#where} is unavailable: ${errorLine(error)}${remedy}`;
      throw new StoreUnavailable(what, { cause: error, state });
    }
  }

  #answered(): void {
    if (this.#isReachable) return;
    this.#isReachable = true;
    this.#cancelProbe?.();
    this.#cancelProbe = null;
    this.#log?.warn({ event: 'store_reachable' }, 'PostgreSQL answers again');
  }

  #lost(error: unknown): void {
    if (!this.#isReachable || this.#isClosed) return;
    this.#isReachable = false;
    const what = `PostgreSQL at ${this.#where} cannot be reached: ${CHECK}`;
    this.#log?.error({ event: 'store_unreachable', reason: errorLine(error) }, what);
    this.#probeSoon();
  }

  /** Logs a line at intervals, not for each call: most fail then. */
  #noteFullDisk(error: unknown): void {
    const now = this.#clock.now();
    if (now < this.#fullDiskNotedAt + NOTED_EVERY_MS) return;
    this.#fullDiskNotedAt = now;
    const what =
      "PostgreSQL's disk is full: free space there; until then changes are refused and the journal waits";
    this.#log?.error({ event: 'store_disk_full', reason: errorLine(error) }, what);
  }

  #probeSoon(): void {
    this.#cancelProbe = this.#clock.at(this.#clock.now() + PROBE_MS, () => {
      this.read((statements) => statements.rows('SELECT 1')).catch(() => {
        if (!this.#isReachable && !this.#isClosed) this.#probeSoon();
      });
    });
  }
}

/** The connection was lost while the transaction was committed. */
class CommitUnknown extends Error {}

/** The server ends a transaction whose client is silent: behind a cut network it would keep its locks for hours. */
const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${SILENT_MS}`;

async function once<T>(client: PoolClient, work: (client: PoolClient) => Promise<T>): Promise<T> {
  try {
    await client.query(BEGIN);
    const result = await work(client);
    await commit(client);
    return result;
  } catch (error) {
    const failure = failureOf(error);
    if (failure !== 'lost' && !(error instanceof CommitUnknown)) await client.query('ROLLBACK');
    throw error;
  }
}

async function commit(client: PoolClient): Promise<void> {
  try {
    const { command } = await client.query('COMMIT');
    // The server rolls back, without an error, what had one that the work did not pass on.
    if (command !== 'COMMIT')
      throw new Error('a statement failed within the transaction, and the failure was not passed on');
  } catch (error) {
    if (failureOf(error) !== 'lost') throw error;
    throw new CommitUnknown(`${errorLine(error)}; whether the change was kept is not known`);
  }
}
