import { randomUUID } from 'node:crypto';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { HeldLease, LeaseName, Leases, StopJobs } from '../../leases.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';

/** How long a lease lasts without being renewed, by the database's clock. */
const LASTS_MS = 5_500;
/** The interval of renewals. */
const RENEW_MS = 1_500;
/** The interval of attempts to get a lease that another process has. */
const RETRY_MS = 500;
/**
 * The holder counts itself out this long after it sent the last renewal that succeeded, by its own clock: before the
 * database gives the lease to another process.
 */
const COUNTS_ITSELF_OUT_MS = 4_500;

interface Deps {
  readonly database: PostgresDatabase;
  readonly clock: Clock;
  readonly log?: Logger | undefined;
}

/**
 * Leases as rows, by the database's clock: no session is needed, so they work through PgBouncer, and end by themselves
 * when a process stalls or is cut off. A process that was killed is succeeded within six seconds, one that stops at once.
 */
export class PostgresLeases implements Leases {
  readonly #deps: Deps;
  readonly #held = new Set<HeldJobs>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async hold(name: LeaseName, start: () => Promise<StopJobs>): Promise<HeldLease> {
    const held = new HeldJobs(this.#deps, name, start);
    this.#held.add(held);
    try {
      await held.first();
    } catch (error) {
      await held.stop();
      this.#held.delete(held);
      throw error;
    }
    return {
      stop: async () => {
        await held.stop();
        this.#held.delete(held);
      },
    };
  }

  async isHeld(name: LeaseName): Promise<boolean> {
    const held = 'SELECT 1 FROM lease WHERE name = $1 AND expires_at > clock_timestamp()';
    return (await this.#deps.database.read(({ first }) => first(held, [name]))) !== undefined;
  }

  /** The leases that this process has. */
  get names(): readonly LeaseName[] {
    return [...new Set([...this.#held].flatMap((held) => (held.isHeld ? [held.name] : [])))];
  }

  /** Ends all jobs and leases. */
  async close(): Promise<void> {
    await Promise.all([...this.#held].map((held) => held.stop()));
  }
}

/** The jobs of one lease: started when this process gets it, ended when it loses it. */
class HeldJobs {
  readonly #deps: Deps;
  readonly name: LeaseName;
  readonly #start: () => Promise<StopJobs>;
  /** Of this holder alone: two of one process exclude each other, too. */
  readonly #holder = randomUUID();
  readonly #stopping = new AbortController();
  #isHeld = false;
  #jobs: StopJobs | null = null;
  /** The last start or end of the jobs: one at a time. */
  #changing: Promise<void> = Promise.resolve();
  #loop: Promise<void> = Promise.resolve();
  #cancelDeadline: () => void = () => {};

  constructor(deps: Deps, name: LeaseName, start: () => Promise<StopJobs>) {
    this.#deps = deps;
    this.name = name;
    this.#start = start;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Tries once to get the lease, then goes on in the background. Rejects when the jobs cannot be started. */
  async first(): Promise<void> {
    await this.#renew();
    this.#loop = this.#run();
    await this.#startJobs();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.#lose();
    const end = 'UPDATE lease SET expires_at = clock_timestamp() WHERE name = $1 AND holder = $2';
    // Where that fails, it ends by itself.
    await this.#deps.database
      .transaction(({ change }) => change(end, [this.name, this.#holder]))
      .catch(() => {});
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#stopping;
    for (;;) {
      await clock.sleep(this.#isHeld ? RENEW_MS : RETRY_MS, signal);
      if (signal.aborted) return;
      // Whether it was renewed is not known then: the deadline ends the jobs.
      await this.#renew().catch(() => {});
      this.#startJobs().catch((error) => {
        log?.error(
          { lease: this.name, reason: errorLine(error) },
          'the jobs of a lease could not be started',
        );
      });
    }
  }

  /** Gets the lease, or keeps it. */
  async #renew(): Promise<void> {
    const { clock, log, database } = this.#deps;
    const sentAt = clock.now();
    const row = await database.transaction(({ first }) => first(TAKE, [this.name, this.#holder]));
    // The deadline may have passed while the database answered.
    const wasHeld = this.#isHeld;
    if (row === undefined) {
      if (wasHeld)
        log?.warn({ event: 'lease_lost', lease: this.name }, 'another process has taken the lease');
      await this.#lose();
      return;
    }
    this.#isHeld = true;
    this.#cancelDeadline();
    this.#cancelDeadline = clock.at(sentAt + COUNTS_ITSELF_OUT_MS, () => {
      log?.warn({ event: 'lease_lost', lease: this.name }, 'a lease was not renewed in time: its jobs end');
      void this.#lose();
    });
    if (!wasHeld) log?.info({ event: 'lease_taken', lease: this.name }, 'this process has the lease');
  }

  #lose(): Promise<void> {
    this.#isHeld = false;
    this.#cancelDeadline();
    return this.#change(async () => {
      const stop = this.#jobs;
      this.#jobs = null;
      await stop?.();
    });
  }

  #startJobs(): Promise<void> {
    return this.#change(async () => {
      if (this.#isHeld) this.#jobs ??= await this.#start();
    });
  }

  #change(work: () => Promise<void>): Promise<void> {
    const changed = this.#changing.then(work);
    this.#changing = changed.catch(() => {});
    return changed;
  }
}

const TAKE = `INSERT INTO lease AS l (name, holder, term, expires_at)
  VALUES ($1, $2, 1, clock_timestamp() + interval '${LASTS_MS} milliseconds')
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
  term = l.term + CASE WHEN l.holder = excluded.holder THEN 0 ELSE 1 END
  WHERE l.holder = excluded.holder OR l.expires_at < clock_timestamp() RETURNING 1`;
