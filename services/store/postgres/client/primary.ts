import { Pool, type PoolClient, types } from 'pg';
import { errorLine } from '../../../messages/error-message.ts';
import type { PostgresAddress, PostgresHost } from './postgres-address.ts';
import { failureOf } from './postgres-errors.ts';
import { isLater, SeenTimelines, TIMELINE } from './timeline.ts';

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

export interface PostgresConnection {
  readonly client: PoolClient;
  /** The primary may be another host now: all connections to this one end, those in use when they are released. */
  lost(): void;
}

interface Found {
  readonly at: number;
  readonly pool: Pool;
  readonly timeline: string;
}

/**
 * Connections to the one host that can be written to. After a failover it is found again, with the next call. Of several
 * that can be written to, the one on the latest timeline is the primary: the others are former ones that came back.
 *
 *     unknown ── connect ──► finding: all hosts at the same time ──► known ── a connection is lost ──► unknown
 *        ▲                      │ none can be written to, or                    (its pool ends)
 *        └── the call rejects ──┘ none answers within 2 s
 */
export class Primary {
  readonly #options: PrimaryOptions;
  readonly #seen = new SeenTimelines(() => this.onTimeline());
  /** Called when the server is on another timeline than the last one that this process has seen. */
  onTimeline: () => void = () => {};
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
  async connect(): Promise<PostgresConnection> {
    const known = this.#pool;
    const pool = known ?? (await this.#find());
    try {
      return { client: await pool.connect(), lost: () => this.#giveUp(pool) };
    } catch (error) {
      // Given up by another call meanwhile.
      if (pool.ending && !this.#isClosed && this.#pool !== pool) return this.connect();
      if (failureOf(error) !== 'lost') throw error;
      this.#giveUp(pool);
      // Nothing was sent yet: the primary may be another host by now.
      if (known && !this.#isClosed) return this.connect();
      throw error;
    }
  }

  /** Throws when the server's timeline is older than one that this process has seen. */
  sawTimeline(name: string): void {
    this.#seen.see(name);
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

  /** Tries all hosts at the same time. One that does not answer costs no more than the time limit. */
  async #tryAll(): Promise<Pool> {
    const { hosts } = this.#options.address;
    const tried = await Promise.allSettled(hosts.map((host, at) => this.#try(host, at)));
    const found = tried.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    // The one that was the primary last is preferred among equals.
    const inOrder = found.sort((one, other) => this.#distance(one.at) - this.#distance(other.at));
    const [first] = inOrder;
    if (!first || this.#isClosed) {
      for (const { pool } of found) this.#end(pool);
      throw noPrimary(hosts, tried);
    }
    const best = inOrder.reduce((one, other) => (isLater(other.timeline, one.timeline) ? other : one));
    for (const { pool } of found) if (pool !== best.pool) this.#end(pool);
    this.#at = best.at;
    this.#pool = best.pool;
    return best.pool;
  }

  #distance(at: number): number {
    const { length } = this.#options.address.hosts;
    return (at - this.#at + length) % length;
  }

  async #try(host: PostgresHost, at: number): Promise<Found> {
    const pool = this.#open(host);
    try {
      const client = await pool.connect();
      try {
        const { rows } = await client.query<{ readonly timeline: string }>(`SELECT ${TIMELINE} AS timeline`);
        return { at, pool, timeline: rows[0]?.timeline ?? '' };
      } finally {
        client.release();
      }
    } catch (error) {
      this.#end(pool);
      throw error;
    }
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
      onConnect: async (client) => this.#seen.see(await timelineOf(client)),
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

/** Returns the name of the server's timeline. Rejects when the server is a standby. */
async function timelineOf(client: {
  query(text: string): Promise<{ rows: readonly unknown[] }>;
}): Promise<string> {
  const { rows } = await client.query(STATE);
  const [row] = rows as readonly { readonly read_only: string; readonly timeline: string | null }[];
  if (row?.read_only !== 'off' || row.timeline === null)
    throw new Error('the server is read-only: it is a standby');
  return row.timeline;
}

const STATE = `SELECT current_setting('transaction_read_only') AS read_only,
  CASE WHEN pg_is_in_recovery() THEN NULL ELSE ${TIMELINE} END AS timeline`;

/** Returns the error of a search that found no primary. */
function noPrimary(hosts: readonly PostgresHost[], tried: readonly PromiseSettledResult<Found>[]): unknown {
  const failures = tried.flatMap((each, at) =>
    each.status === 'rejected' ? [{ host: hosts[at]?.host, error: each.reason as unknown }] : [],
  );
  const [first] = failures;
  if (!first) return new Error('Connection terminated: the store is closed');
  if (hosts.length === 1) return first.error;
  const names = failures.map(({ host, error }) => `${host}: ${errorLine(error)}`);
  return Object.assign(new Error(`no host is a primary (${names.join('; ')})`), { code: 'ECONNREFUSED' });
}
