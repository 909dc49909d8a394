import type { PostgresDatabase } from '../postgres/client/postgres-database.ts';
import { LEAF_KINDS } from '../postgres/leaves/leaf.ts';
import type { Leaves } from '../postgres/leaves/leaves.ts';
import { advance, type CopyState, type Reached } from './copy-state.ts';
import { DeliveryTable } from './delivery-table.ts';
import { EventTable } from './event-table.ts';
import { FeedTable } from './feed-table.ts';
import { type LogTable, readChunk } from './log-chunk.ts';
import { MissedTable } from './missed-table.ts';
import { copyAudit } from './small-tables.ts';
import type { Sqlite } from './source.ts';

interface Deps {
  readonly database: PostgresDatabase;
  readonly leaves: Leaves;
  readonly snapshot: Sqlite;
  readonly tell: (line: string) => void;
}

/** Rows between two lines that tell the progress. */
const TOLD_EVERY = 250_000;
const AUDIT_ROWS = 5_000;

/**
 * Copies the log of the snapshot, in the order of its rows, which is nearly that of time: each page of the file is read
 * once, and few leaves are written at a time. Each part commits with the place reached, so a copy that was cut off goes
 * on behind its last part. Returns the state afterwards.
 */
export async function copyLog(deps: Deps, begun: CopyState): Promise<CopyState> {
  const { database, snapshot } = deps;
  const { events, deliveries, feed } = begun.snapshot;
  let state = await copyAuditOf(database, snapshot, begun);
  state = await copyTable(deps, state, 'event', new EventTable(snapshot), events);
  state = await copyTable(deps, state, 'delivery', new DeliveryTable(snapshot), deliveries);
  state = await copyTable(deps, state, 'missed', new MissedTable(snapshot), null);
  state = await copyTable(deps, state, 'feed', new FeedTable(snapshot, 'all'), feed);
  await analyse(database, deps.leaves);
  return state;
}

/** Copies the audit entries that the target does not have: they never change. */
export async function copyAuditOf(
  database: PostgresDatabase,
  source: Sqlite,
  begun: CopyState,
): Promise<CopyState> {
  const next = source
    .prepare(
      'SELECT max(audit_id) FROM (SELECT audit_id FROM audit WHERE audit_id > ? ORDER BY audit_id LIMIT ?)',
    )
    .pluck();
  let state = begun;
  for (;;) {
    const to = next.get(state.reached.audit, AUDIT_ROWS) as number | null;
    if (to === null) return state;
    const { audit: after } = state.reached;
    const reached = { ...state.reached, audit: to };
    state = await advance(database, state, { reached }, (tx) => copyAudit(tx, source, { after, to }));
  }
}

async function copyTable<Name extends 'event' | 'delivery' | 'missed' | 'feed', Row>(
  { database, leaves, tell }: Deps,
  begun: CopyState,
  name: Name,
  table: LogTable<Reached[Name], Row>,
  last: number | null,
): Promise<CopyState> {
  let state = begun;
  let rows = 0;
  for (;;) {
    const chunk = readChunk(table, state.reached[name], leaves);
    if (chunk === null) return state;
    await leaves.ensureAt(...chunk.times);
    const reached = { ...state.reached, [name]: chunk.reached };
    state = await advance(database, state, { reached }, async (tx) => {
      // A part that is lost with a crash of the server is lost with its place.
      await tx.rows('SET LOCAL synchronous_commit = off');
      await chunk.copies.write(tx);
    });
    const before = rows;
    rows += chunk.rows;
    if (Math.floor(rows / TOLD_EVERY) > Math.floor(before / TOLD_EVERY))
      tell(`${name}: row ${chunk.reached}${last === null ? '' : ` of ${last}`}`);
  }
}

/** Collects what the planner needs: until autovacuum comes, it would know nothing of the new rows. */
async function analyse(database: PostgresDatabase, leaves: Leaves): Promise<void> {
  for (const kind of LEAF_KINDS)
    for (const { suffix } of await leaves.list(kind))
      await database.alone(({ rows }) => rows(`ANALYZE ${kind}_${suffix}`));
}
