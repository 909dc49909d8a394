import type { Statements } from '../../sql/statements.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { Transaction } from '../client/statements.ts';
import { beginOfLeaf, LEAF_KINDS, type Leaf, type LeafKind, leafOf } from './leaf.ts';

/** One process at a time makes leaves, or moves the beginning of the log. */
const LOCK = "hashtextextended('hookrail leaves', 0)";

/** `whole`: it has every kind. `bodiless`: its bodies are too old. `gone`: all of it is. */
type State = 'whole' | 'bodiless' | 'gone';

/** The leaves of the log: made before something is written to them, dropped when all of it is too old. */
export class Leaves {
  readonly #database: PostgresDatabase;
  readonly leafMs: number;
  /** By suffix. */
  readonly #known = new Map<string, State>();
  /** The leaf that was asked for last: almost always the one that is asked for next. */
  #last: Leaf;

  constructor(database: PostgresDatabase, leafMs: number) {
    this.#database = database;
    this.leafMs = leafMs;
    this.#last = leafOf(0, leafMs);
  }

  of(at: number): Leaf {
    if (at < this.#last.from || at >= this.#last.to) this.#last = leafOf(at, this.leafMs);
    return this.#last;
  }

  /**
   * Returns rows by the ending of their leaf's name. A statement that changes rows of one leaf names it: of the whole table,
   * a join with the rows would be planned, and carried out, for every leaf.
   */
  group<Row extends { readonly createdAt: number }>(
    rows: Iterable<Row>,
  ): ReadonlyMap<string, readonly Row[]> {
    const groups = new Map<string, Row[]>();
    for (const row of rows) {
      const { suffix } = this.of(row.createdAt);
      const group = groups.get(suffix);
      if (group) group.push(row);
      else groups.set(suffix, [row]);
    }
    return groups;
  }

  /** Makes the leaves of these times that are missing, unless they were dropped for their age. */
  async ensureAt(...times: readonly number[]): Promise<void> {
    await this.ensure(new Set(times.map((at) => this.of(at))));
  }

  async ensure(leaves: Iterable<Leaf>): Promise<void> {
    for (const leaf of leaves) {
      if (this.#known.has(leaf.suffix)) continue;
      this.#known.set(leaf.suffix, await this.#database.transaction((tx) => make(tx, leaf)));
    }
  }

  /** Whether something of this time is still recorded. Its leaf was ensured. */
  isKept(at: number): boolean {
    return this.#known.get(this.of(at).suffix) !== 'gone';
  }

  keepsBodies(at: number): boolean {
    return this.#known.get(this.of(at).suffix) === 'whole';
  }

  /** Another process may have dropped leaves: they are looked for again. */
  forget(): void {
    this.#known.clear();
  }

  /** Returns the leaves of a kind, oldest first; also one that was detached, but not dropped because of a crash. */
  async list(kind: LeafKind): Promise<readonly Leaf[]> {
    const names = await this.#database.read(({ rows }) =>
      rows<{ readonly name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relname ~ ('^' || $1 || '_[0-9]{10}$') AND relkind = 'r'
         AND pg_table_is_visible(oid) ORDER BY relname`,
        [kind],
      ),
    );
    return names.flatMap(({ name }) => {
      const from = beginOfLeaf(kind, name);
      return from === undefined ? [] : [leafOf(from, this.leafMs)];
    });
  }

  /**
   * Drops the oldest leaf of these kinds when all of it is older than `before`. Returns whether there was one. `beginning`:
   * what is moved to the leaf's end first, so that no process makes it again.
   */
  async dropOldest(
    kinds: readonly LeafKind[],
    before: number,
    beginning: 'log_from' | 'bodies_from',
  ): Promise<boolean> {
    const lists = await Promise.all(kinds.map((kind) => this.list(kind)));
    const [oldest] = lists.flatMap(([first]) => first ?? []).sort((one, other) => one.from - other.from);
    if (!oldest || oldest.to > before) return false;
    await this.#database.transaction(async ({ rows, change }) => {
      await rows(`SELECT pg_advisory_xact_lock(${LOCK})`);
      await change('UPDATE meta SET value = $2 WHERE name = $1 AND value::bigint < $2::bigint', [
        beginning,
        `${oldest.to}`,
      ]);
    });
    for (const kind of kinds) await this.drop(kind, oldest);
    return true;
  }

  /**
   * Drops a leaf of a kind. Dropping one that is gone does nothing. Whoever uses the table waits a quarter of a second at
   * most: while somebody holds a transaction in which it was read, the call rejects after that, and is to be tried again.
   */
  async drop(kind: LeafKind, { suffix }: Leaf): Promise<void> {
    this.#known.delete(suffix);
    await this.#database.alone(async ({ first }) => {
      for (let isThere = true; isThere; ) {
        const left = await first<{ readonly there: boolean }>('SELECT drop_leaf($1, $2) AS there', [
          ...[kind, suffix],
        ]);
        isThere = left?.there ?? false;
      }
    });
  }
}

/** Returns where the log and its bodies begin, milliseconds since the epoch. */
export async function beginnings({
  rows,
}: Statements): Promise<{ readonly log: number; readonly bodies: number }> {
  const found = await rows<{ readonly name: string; readonly value: string }>(
    "SELECT name, value FROM meta WHERE name IN ('log_from', 'bodies_from')",
  );
  const of = (name: string) => Number(found.find((row) => row.name === name)?.value ?? 0);
  return { log: of('log_from'), bodies: Math.max(of('log_from'), of('bodies_from')) };
}

async function make(tx: Transaction, { from, to }: Leaf): Promise<State> {
  await tx.rows(`SELECT pg_advisory_xact_lock(${LOCK})`);
  const { log, bodies } = await beginnings(tx);
  if (to <= log) return 'gone';
  const hasBodies = to > bodies;
  for (const kind of LEAF_KINDS) {
    if (kind === 'body' && !hasBodies) continue;
    await tx.rows('SELECT make_leaf($1, $2, $3)', [kind, from, to]);
  }
  return hasBodies ? 'whole' : 'bodiless';
}
