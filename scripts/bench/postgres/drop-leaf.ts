import pg from 'pg';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import {
  type DatabaseOptions,
  PostgresDatabase,
} from '../../../services/store/postgres/client/postgres-database.ts';
import { Leaves } from '../../../services/store/postgres/leaves/leaves.ts';
import { StoreUnavailable } from '../../../services/store/store.ts';
import { startChild } from '../child.ts';
import { sleep } from '../load.ts';
import { wallClock } from '../measure.ts';
import { fillLeaves, MERCHANT } from './fill-leaves.ts';
import { withPostgres } from './postgres-server.ts';

const DAY_MS = 86_400_000;
const LEAVES = 2;
/** How long a reader holds its transaction, in which it has read the parent table. */
const HELD_MS = 5000;
const SAMPLE_MS = 20;
/** The pause before a leaf that is in use is tried again. */
const AGAIN_MS = 500;
const LOAD = { partitions: 12, merchants: 100, batch: 50, attemptedAfter: 200 };

export interface DropLeafResult {
  readonly deliveries: number;
  readonly dropMs: number;
  /** The longest that a statement of another session waited for a lock. */
  readonly waitedMs: number;
  readonly recorded: number;
}

/** Drops a leaf of this many deliveries while a reader holds a transaction and a recorder writes. */
export function measureDropLeaf({
  deliveries,
  events,
}: {
  readonly deliveries: number;
  readonly events: number;
}): Promise<DropLeafResult> {
  return withPostgres(async (postgres) => {
    const url = await postgres.createDatabase('leaves');
    const options = { address: parsePostgresUrl(url, undefined), clock: systemClock(), connectionsMax: 3 };
    const database = databaseOf(options, 'retention');
    const sizes = { leaves: LEAVES, leafMs: DAY_MS, until: wallClock(), eventsPerLeaf: deliveries / 2 };
    await fillLeaves(database, url, { ...sizes, endpoints: 0 });
    const recorder = startChild('./recorder/recorder-process.ts');
    await recorder.ask('open', { store: 'postgres', at: url });
    await recorder.ask('createEndpoints', LOAD);
    await recorder.ask('prepare', {
      load: { ...LOAD, events },
      partitions: Array.from({ length: LOAD.partitions }, (_, partition) => partition),
    });
    const recording = recorder.ask<{ readonly entries: number }>('record', { from: 0, to: 1 });
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    await reader.query(`BEGIN; SELECT count(*) FROM event JOIN log_merchant m ON m.seq = merchant
      WHERE m.merchant_id = '${MERCHANT}' AND created_at > ${wallClock() - DAY_MS}`);
    const released = sleep(HELD_MS).then(() => reader.end());
    const over = new AbortController();
    const waits = longestWait(url, over.signal);
    const startedAt = wallClock();
    const made = makeLeaves(options, HELD_MS);
    await dropWhenPossible(new Leaves(database, DAY_MS));
    const dropMs = wallClock() - startedAt;
    await Promise.all([released, made]);
    const { entries } = await recording;
    over.abort();
    const waitedMs = await waits;
    await recorder.ask('close');
    await recorder.stop();
    await database.close();
    return { deliveries, dropMs, waitedMs, recorded: entries };
  });
}

/** Drops the oldest leaf as retention does: again after a while, when a reader keeps it from being detached. */
async function dropWhenPossible(leaves: Leaves): Promise<void> {
  const kinds = ['event', 'delivery', 'attempt', 'body', 'failing', 'missed'] as const;
  for (;;) {
    try {
      if (await leaves.dropOldest(kinds, wallClock() - DAY_MS, 'log_from')) return;
      throw new Error('no leaf was old enough');
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

/** Makes leaves of days to come, as a recorder does when a day begins. */
async function makeLeaves(options: Parameters<typeof databaseOf>[0], forMs: number): Promise<void> {
  const database = databaseOf(options, 'leaf maker');
  const leaves = new Leaves(database, DAY_MS);
  const until = wallClock() + forMs;
  for (let day = 2; wallClock() < until; day += 1) {
    await leaves.ensureAt(wallClock() + day * DAY_MS);
    await sleep(AGAIN_MS);
  }
  await database.close();
}

function databaseOf(options: Omit<DatabaseOptions, 'applicationName'>, applicationName: string) {
  return new PostgresDatabase({ ...options, applicationName });
}

/** Returns the longest wait for a lock, but for that of the session that drops the leaf, which has to wait. */
async function longestWait(url: string, over: AbortSignal): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let longest = 0;
  while (!over.aborted) {
    const { rows } =
      await client.query(`SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart)), 0)::float8 * 1000
      AS ms FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND application_name <> 'retention'`);
    longest = Math.max(longest, rows[0]?.ms ?? 0);
    await sleep(SAMPLE_MS);
  }
  await client.end();
  return longest;
}

export function dropLeafText({ deliveries, dropMs, waitedMs, recorded }: DropLeafResult): string {
  return `a leaf of ${deliveries} deliveries dropped in ${(dropMs / 1000).toFixed(1)} s, beside a reader's transaction of ${HELD_MS / 1000} s, a recorder (${recorded} records) and new leaves: no other statement waited longer than ${Math.round(waitedMs)} ms`;
}
