import type { PostgresDatabase } from '../postgres/client/postgres-database.ts';
import type { Transaction } from '../postgres/client/statements.ts';
import type { Leaves } from '../postgres/leaves/leaves.ts';
import type { Store } from '../store.ts';
import { copyAuditOf } from './copy-log.ts';
import { advance, type CopyState } from './copy-state.ts';
import { FeedTable } from './feed-table.ts';
import { readChunk } from './log-chunk.ts';
import { copyManagement, copyNames, setSequences } from './small-tables.ts';
import { fingerprintOf, type Sqlite } from './source.ts';

interface Deps {
  readonly database: PostgresDatabase;
  readonly leaves: Leaves;
  /** The store, which no process changes. */
  readonly source: Sqlite;
}

/**
 * Copies all but the log, as it is now, in the place of what an earlier call has copied. Returns the state afterwards, and
 * the orders to erase an entity that were carried out since the snapshot: in the target they are not.
 */
export async function copyRest(
  { database, leaves, source }: Deps,
  begun: CopyState,
): Promise<{ readonly state: CopyState; readonly toErase: readonly number[] }> {
  let state = await copyAuditOf(database, source, begun);
  state = await copyEndpointChanges({ database, leaves, source }, state);
  const toErase = await erasedSince(database, source);
  const { feed } = fingerprintOf(source);
  state = await advance(database, state, { changesTo: feed }, async (tx) => {
    await copyNames(tx, source, feed);
    await copyManagement(tx, source);
    await tx.change('UPDATE erasure SET done_at = NULL WHERE erasure_id = ANY($1::bigint[])', [toErase]);
    await noteCounted(tx, source);
    await setSequences(tx, source);
  });
  return { state, toErase };
}

/** Copies what the feed reports of endpoints since the snapshot: the rest of the feed comes again with the journal. */
async function copyEndpointChanges({ database, leaves, source }: Deps, begun: CopyState): Promise<CopyState> {
  const table = new FeedTable(source, 'changes');
  let state = begun;
  for (;;) {
    const chunk = readChunk(table, state.changesTo, leaves);
    if (chunk === null) return state;
    await leaves.ensureAt(...chunk.times);
    state = await advance(database, state, { changesTo: chunk.reached }, (tx) => chunk.copies.write(tx));
  }
}

async function erasedSince(database: PostgresDatabase, source: Sqlite): Promise<readonly number[]> {
  const known = await database.read(({ rows }) =>
    rows<{ readonly erasure_id: number }>('SELECT erasure_id FROM erasure WHERE done_at IS NOT NULL'),
  );
  const isErased = new Set(known.map(({ erasure_id }) => erasure_id));
  const done = source.prepare('SELECT erasure_id FROM erasure WHERE done_at IS NOT NULL').pluck();
  return (done.all() as number[]).filter((id) => !isErased.has(id));
}

/**
 * The endpoints' health is that of the source, which has counted the journal further than the snapshot: the target's
 * recorder reads these entries again, and counts none of them twice.
 */
async function noteCounted(tx: Transaction, source: Sqlite): Promise<void> {
  const positions = source.prepare('SELECT partition, last FROM journal_position').all();
  await tx.change(
    `INSERT INTO journal_position (partition, last, counted) SELECT partition, -1, last
     FROM json_to_recordset($1::json) AS u (partition text, last bigint)
     ON CONFLICT (partition) DO UPDATE SET counted = excluded.counted`,
    [JSON.stringify(positions)],
  );
}

/** Carries out in the target what was erased in the source since the snapshot. */
export async function eraseAgain(
  { database, source }: Omit<Deps, 'leaves'>,
  target: Store,
  toErase: readonly number[],
): Promise<void> {
  const doneAt = source.prepare('SELECT done_at FROM erasure WHERE erasure_id = ?').pluck();
  for (const erasureId of toErase) {
    for (let after: string | null | undefined; after !== null; )
      after = (await target.erasures.step(erasureId, after)).next;
    await database.transaction(({ change }) =>
      change('UPDATE erasure SET done_at = $2 WHERE erasure_id = $1', [erasureId, doneAt.get(erasureId)]),
    );
  }
}
