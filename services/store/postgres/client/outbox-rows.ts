import type { Statements } from '../../sql/statements.ts';
import { StoreUnavailable } from '../../store.ts';
import type { Transaction } from './statements.ts';
import { readTimeline, TIMELINE } from './timeline.ts';

/**
 * Adds a row to the outbox, and returns its id. Throws StoreUnavailable on a timeline that was not reconciled yet: the
 * version of a lost change would be given again. `sawTimeline`: called with the server's.
 */
export async function addFenced(
  { first }: Pick<Statements, 'first'>,
  change: string,
  sawTimeline: (name: string) => void,
): Promise<number> {
  const row = await first<{ readonly timeline: string; readonly outbox_id: number | null }>(ADD_FENCED, [
    change,
  ]);
  if (!row) throw new Error('the outbox returned no row');
  sawTimeline(row.timeline);
  if (row.outbox_id === null) throw notReconciled(row.timeline);
  return row.outbox_id;
}

/** Adds a row whether the timeline was reconciled or not. */
export async function addUnfenced({ first }: Pick<Statements, 'first'>, change: string): Promise<number> {
  const row = await first<{ readonly outbox_id: number }>(
    'INSERT INTO outbox (change) VALUES ($1) RETURNING outbox_id',
    [change],
  );
  if (!row) throw new Error('the outbox returned no row');
  return row.outbox_id;
}

const ADD_FENCED = `WITH server AS (SELECT ${TIMELINE} AS timeline), added AS (
    INSERT INTO outbox (change) SELECT $1 FROM server JOIN meta ON meta.value = server.timeline
    WHERE meta.name = 'timeline' RETURNING outbox_id)
  SELECT server.timeline, added.outbox_id FROM server LEFT JOIN added ON TRUE`;

function notReconciled(timeline: string): StoreUnavailable {
  const what = `PostgreSQL was failed over or restored (timeline ${timeline}): changes are refused until the process with the lease "api" has reconciled the store with the directory stream`;
  return new StoreUnavailable(what, { state: 'reconciling' });
}

/** Throws StoreUnavailable on a timeline that was not reconciled yet. */
export async function requireReconciled(tx: Transaction): Promise<void> {
  const { name, isReconciled } = await readTimeline(tx);
  if (!isReconciled) throw notReconciled(name);
}
