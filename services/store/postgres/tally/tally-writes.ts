import { isFull } from '../../log/tally/pending-tallies.ts';
import { addCells, encodeCells, Tallies, type Tally } from '../../log/tally/tallies.ts';
import { arrayOf } from '../client/array-values.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { sqlStateOf } from '../client/postgres-errors.ts';
import type { Transaction } from '../client/statements.ts';
import type { Leaves } from '../leaves/leaves.ts';

/** One process at a time merges: another one would wait for the rows that it deletes, perhaps in a circle. */
const LOCK = "hashtextextended('hookrail tally', 0)";
const ATTEMPTS = 3;
const UNDEFINED_TABLE = '42P01';

/**
 * Writes the tallies. Each batch of a recorder adds one row to `tally_delta`, in its transaction, so that recorders never
 * wait for one another's tallies. The rows of all recorders are merged into the tallies together.
 */
export class TallyWrites {
  readonly #database: PostgresDatabase;
  readonly #leaves: Leaves;
  /** The counts this process has added since it last merged. */
  #rows = 0;
  #bytes = 0;

  constructor(database: PostgresDatabase, leaves: Leaves) {
    this.#database = database;
    this.#leaves = leaves;
  }

  /** Adds what a batch has counted. */
  async add(tx: Transaction, tallies: Tallies): Promise<void> {
    if (tallies.isEmpty) return;
    const { firstAt, lastAt, bytes } = tallies.encode();
    await tx.change('INSERT INTO tally_delta (first_at, last_at, tallies) VALUES ($1, $2, $3)', [
      ...[firstAt, lastAt, bytes],
    ]);
    this.#rows += 1;
    this.#bytes += bytes.length;
  }

  async mergeWhenFull(): Promise<void> {
    if (isFull({ rows: this.#rows, bytes: this.#bytes })) await this.merge();
  }

  /** Merges what all recorders have added, unless another process does so now. */
  async merge(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const pending = await this.#database.read(({ rows }) =>
        rows<{ readonly tallies: Buffer }>('SELECT tallies FROM tally_delta'),
      );
      if (pending.length > 0) await this.#ensureLeaves(pending.map(({ tallies }) => tallies));
      try {
        if (pending.length > 0) await this.#database.transaction((tx) => this.#within(tx));
        this.#rows = 0;
        this.#bytes = 0;
        return;
      } catch (error) {
        // Another process has dropped a leaf.
        if (sqlStateOf(error) !== UNDEFINED_TABLE || attempt === ATTEMPTS) throw error;
        this.#leaves.forget();
      }
    }
  }

  /** A copy of a SQLite store brings rows whose leaves nobody has made. */
  async #ensureLeaves(pending: readonly Buffer[]): Promise<void> {
    const all = new Tallies();
    for (const bytes of pending) all.add(bytes);
    await this.#leaves.ensureAt(...new Set(all.list.map(({ createdAt }) => createdAt)));
  }

  async #within(tx: Transaction): Promise<void> {
    const lock = await tx.first<{ readonly got: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${LOCK}) AS got`,
    );
    if (!lock?.got) return;
    const added = await tx.rows<{ readonly tallies: Buffer }>('DELETE FROM tally_delta RETURNING tallies');
    const all = new Tallies();
    for (const { tallies } of added) all.add(tallies);
    // Counts older than the retention are dropped.
    const kept = all.list.filter(({ createdAt }) => this.#leaves.isKept(createdAt));
    for (const [suffix, tallies] of this.#leaves.group(kept)) await mergeLeaf(tx, suffix, tallies);
  }
}

/** Adds tallies to those of one leaf. */
async function mergeLeaf(tx: Transaction, suffix: string, tallies: readonly Tally[]): Promise<void> {
  const endpoints = tallies.map(({ endpoint }) => endpoint);
  const times = tallies.map(({ createdAt }) => createdAt);
  const stored = await tx.rows<{ readonly at: number; readonly cells: Buffer }>(
    `SELECT u.at::int AS at, t.cells FROM unnest($1::int[], $2::bigint[]) WITH ORDINALITY AS u (endpoint, created_at, at)
     JOIN tally_${suffix} t ON t.endpoint = u.endpoint AND t.created_at = u.created_at`,
    [endpoints, times],
  );
  for (const { at, cells } of stored) {
    const tally = tallies[at - 1];
    if (tally) addCells(tally.cells, cells);
  }
  await tx.change(
    `INSERT INTO tally_${suffix} (endpoint, created_at, cells) SELECT * FROM unnest($1::int[], $2::bigint[], $3::bytea[])
     ON CONFLICT (endpoint, created_at) DO UPDATE SET cells = excluded.cells`,
    [
      endpoints,
      times,
      arrayOf(
        'bytea',
        tallies.map(({ cells }) => encodeCells(cells)),
      ),
    ],
  );
}
