import { Pool, type PoolClient, types } from 'pg';
import { errorLine } from '../../../messages/error-message.ts';
import type { PostgresAddress, PostgresHost } from './postgres-address.ts';
import { failureOf } from './postgres-errors.ts';

/** How long connecting to one host may take. */
const CONNECT_MS = 2_000;
/** A network that was cut answers nothing. */
const QUERY_MS_DEFAULT = 10_000;
const LIFETIME_S = 3_600;
const INT8 = types.builtins.INT8;

export interface PrimaryOptions {
  readonly address: PostgresAddress;
  /** The most connections at a time. */
  readonly connectionsMax: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** The most time of one statement; 10 s when it is left out. */
  readonly queryMs?: number;
}

/** Reads whole numbers of eight bytes as numbers: times, positions and row numbers stay below 2 to the 53rd. */
const PARSERS = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary'
      ? toNumber
      : types.getTypeParser(oid, format as 'text')) as typeof types.getTypeParser,
};

function toNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is beyond what hookrail counts`);
  return number;
}

export interface Connection {
  readonly client: PoolClient;
  /** The primary may be another host now: all connections to this one end, those in use when they are released. */
  lost(): void;
}

/** Connections to the one host that can be written to. After a failover it is found again, with the next call. */
export class Primary {
  readonly #options: PrimaryOptions;
  /** The host that was the primary last, an index of `hosts`. */
  #at = 0;
  #pool: Pool | null = null;
  #finding: Promise<Pool> | null = null;
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: PrimaryOptions) {
    this.#options = options;
  }

  /** How many there are now. */
  get connections() {
    const { totalCount = 0, idleCount = 0, waitingCount = 0 } = this.#pool ?? {};
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Returns a connection to the primary; release it. Rejects with the driver's error when no host is one. */
  async connect(): Promise<Connection> {
    const pool = this.#pool ?? (await this.#find());
    try {
      return { client: await pool.connect(), lost: () => this.#giveUp(pool) };
    } catch (error) {
      // Given up by another call meanwhile.
      if (pool.ending && !this.#isClosed && this.#pool !== pool) return this.connect();
      if (failureOf(error) === 'lost') this.#giveUp(pool);
      throw error;
    }
  }

  #giveUp(pool: Pool): void {
    if (this.#pool !== pool) return;
    this.#pool = null;
    this.#end(pool);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#finding?.catch(() => {});
    if (this.#pool) this.#giveUp(this.#pool);
    await Promise.all(this.#ending);
  }

  #find(): Promise<Pool> {
    this.#finding ??= this.#tryAll().finally(() => {
      this.#finding = null;
    });
    return this.#finding;
  }

  /** Tries each host, beginning with the one that was the primary last. */
  async #tryAll(): Promise<Pool> {
    const { hosts } = this.#options.address;
    const failures: unknown[] = [];
    for (let step = 0; step < hosts.length && !this.#isClosed; step += 1) {
      const at = (this.#at + step) % hosts.length;
      const host = hosts[at] as PostgresHost;
      const pool = this.#open(host);
      try {
        const client = await pool.connect();
        client.release();
        this.#at = at;
        this.#pool = pool;
        return pool;
      } catch (error) {
        failures.push(error);
        this.#end(pool);
      }
    }
    const [first] = failures;
    if (failures.length <= 1) throw first ?? new Error('Connection terminated: the store is closed');
    const names = failures.map(
      (error, index) => `${hosts[(this.#at + index) % hosts.length]?.host}: ${errorLine(error)}`,
    );
    throw Object.assign(new Error(`no host is a primary (${names.join('; ')})`), { code: 'ECONNREFUSED' });
  }

  #open({ host, port }: PostgresHost): Pool {
    const { address, connectionsMax, applicationName, queryMs = QUERY_MS_DEFAULT } = this.#options;
    const { database, user, password, ssl } = address;
    const pool = new Pool({
      host,
      port,
      database,
      user,
      ...(password === undefined ? {} : { password }),
      ssl,
      max: connectionsMax,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: queryMs,
      keepAlive: true,
      maxLifetimeSeconds: LIFETIME_S,
      application_name: applicationName,
      types: PARSERS,
      onConnect: isPrimary,
    });
    // A connection that ends while nobody uses it. The next call opens another.
    pool.on('error', () => {});
    return pool;
  }

  #end(pool: Pool): void {
    const ended = pool.end().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}

/** Rejects when the server is a standby. */
async function isPrimary(client: {
  query(text: string): Promise<{ rows: readonly unknown[] }>;
}): Promise<void> {
  const { rows } = await client.query('SHOW transaction_read_only');
  const [row] = rows as readonly { readonly transaction_read_only: string }[];
  if (row?.transaction_read_only !== 'off') throw new Error('the server is read-only: it is a standby');
}
