import { StoreUnavailable } from '../../store.ts';
import type { Transaction } from '../client/statements.ts';
import { TIMELINE } from '../client/timeline.ts';

/*
 * The writes that bring the store into agreement with the DIRECTORY stream, whenever a process gets the lease `api` and
 * after each failover. Other processes may change endpoints meanwhile, so everything is looked at again under the row's lock.
 */

/**
 * The number of versions, above all known ones, that the first change after a failover skips: more than the changes that
 * one relay may have on their way to the stream.
 */
const VERSIONS_SKIPPED = 1000;
/**
 * Numbers of the log's names that are skipped: those of lost names, which some process may still remember, must not be
 * given to another merchant.
 */
const NAMES_SKIPPED = 100_000;

/** Accepts changes on the timeline, with versions above all those that lost commits may have had. */
export async function acceptChanges(tx: Transaction, timeline: string): Promise<void> {
  const now = await tx.first<{ readonly name: string }>(`SELECT ${TIMELINE} AS name`);
  if (now?.name !== timeline)
    throw new StoreUnavailable(`PostgreSQL is on timeline ${now?.name}, and no longer on ${timeline}`);
  const isNew = await tx.first(
    `INSERT INTO meta VALUES ('timeline', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value
     WHERE meta.value <> excluded.value RETURNING 1`,
    [timeline],
  );
  if (!isNew) return;
  await tx.change(RAISE_FLOOR, [VERSIONS_SKIPPED]);
  for (const table of ['log_merchant', 'log_endpoint']) await tx.rows(SKIP_NAMES, [table, NAMES_SKIPPED]);
}

const SKIP_NAMES = `SELECT setval(s.name, nextval(s.name) + $2::int)
  FROM (SELECT pg_get_serial_sequence($1, 'seq')::regclass AS name) AS s`;

const RAISE_FLOOR = `INSERT INTO meta SELECT 'version_floor', greatest(
    next_version(0), (SELECT max(version) FROM endpoint), (SELECT max(version) FROM merchant)) + $1::bigint
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
