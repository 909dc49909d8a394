import type { PostgresDatabase } from '../postgres/client/postgres-database.ts';
import type { Transaction } from '../postgres/client/statements.ts';
import type { Statements } from '../sql/statements.ts';
import { CopyRefused } from './copy-refused.ts';
import type { Fingerprint } from './source.ts';

/** The last row of each table that was copied: of most its number, of `missed` its key. */
export interface Reached {
  readonly event: number;
  readonly delivery: number;
  readonly feed: number;
  readonly audit: number;
  readonly missed: readonly [endpoint: number, createdAt: number, event: number];
}

/** The state of a copy, kept in the target itself: a step and what it copied commit together. */
export interface CopyState {
  /** When the snapshot was taken, milliseconds since the epoch. */
  readonly takenAt: number;
  /** The span of a leaf of the log, milliseconds. */
  readonly leafMs: number;
  readonly snapshot: Fingerprint;
  readonly reached: Reached;
  readonly isLogCopied: boolean;
  /** The newest row of the source's feed whose endpoint changes were copied. */
  readonly changesTo: number;
  /** When the rest was copied, too; null before. */
  readonly copiedAt: number | null;
}

const NAME = 'copy';

/** Returns the state of the copy that fills this database, undefined when there is none. */
export async function readState(statements: Statements): Promise<CopyState | undefined> {
  const row = await statements.first<{ readonly value: string }>('SELECT value FROM meta WHERE name = $1', [
    NAME,
  ]);
  return row && (JSON.parse(row.value) as CopyState);
}

/** Begins a copy. Throws CopyRefused when another one has begun. */
export async function addState(tx: Transaction, state: CopyState): Promise<void> {
  const added = await tx.change('INSERT INTO meta VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    NAME,
    JSON.stringify(state),
  ]);
  if (added === 0) throw anotherRuns();
}

/** Copies something and moves the state on, in one transaction. Returns the new state. */
export function advance(
  database: PostgresDatabase,
  before: CopyState,
  change: Partial<CopyState>,
  work: (tx: Transaction) => Promise<void>,
): Promise<CopyState> {
  const after = { ...before, ...change };
  return database.transaction(async (tx) => {
    const moved = await tx.change('UPDATE meta SET value = $3 WHERE name = $1 AND value = $2', [
      NAME,
      JSON.stringify(before),
      JSON.stringify(after),
    ]);
    if (moved === 0) throw anotherRuns();
    await work(tx);
    return after;
  });
}

function anotherRuns(): CopyRefused {
  return new CopyRefused('another store copy into this database runs: wait until it has ended');
}
