import type { Statements } from '../../sql/statements.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { LEAF_KINDS, type Leaf } from './leaf.ts';
import type { Leaves } from './leaves.ts';

/** How long a leaf is still written to after its end, by more than a few retries. */
const LATE_MS = 3_600_000;
/**
 * Prepares the oldest leaf that has ended and is not prepared yet. Returns whether there was one. Only a role that owns the
 * leaves can; where the running role does not, `operator store vacuum` does it, and the server's autovacuum. Its rows are frozen and
 * its statistics taken once, so that the server need not read it again for that; then its deliveries get an index of
 * entities, for erasures: it would be costly to keep up to date while the leaf is written to. A leaf whose index is valid is
 * prepared: after a crash the work begins again, and an index that was left invalid is built anew.
 */
export async function prepareClosed(
  database: PostgresDatabase,
  leaves: Leaves,
  now: number,
): Promise<boolean> {
  const ended = (await leaves.list('delivery')).filter(({ to }) => to + LATE_MS <= now);
  if (ended.length === 0 || !(await ownsTables(database))) return false;
  const valid = await database.read(({ rows }) =>
    rows<{ readonly name: string }>(
      `SELECT c.relname AS name FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
       WHERE i.indisvalid AND c.relname LIKE '%\\_entity' AND pg_table_is_visible(c.oid)`,
    ),
  );
  const names = new Set(valid.map(({ name }) => name));
  const leaf = ended.find((each) => !names.has(indexOf(each)));
  if (!leaf) return false;
  await database.alone((statements) => prepare(statements, leaf));
  return true;
}

async function prepare({ rows, first }: Statements, leaf: Leaf): Promise<void> {
  for (const kind of LEAF_KINDS) {
    const name = `${kind}_${leaf.suffix}`;
    const there = await first<{ readonly name: string | null }>('SELECT to_regclass($1)::text AS name', [
      name,
    ]);
    if (there?.name) await rows(`VACUUM (FREEZE, ANALYZE) ${name}`);
  }
  const index = indexOf(leaf);
  await rows(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
  await rows(`CREATE INDEX CONCURRENTLY ${index} ON delivery_${leaf.suffix} (entity_id)`);
}

function indexOf({ suffix }: Leaf): string {
  return `delivery_${suffix}_entity`;
}

/** Returns whether the role of this connection owns the tables: then it may vacuum them, and make their indexes. */
export async function ownsTables(database: PostgresDatabase): Promise<boolean> {
  const row = await database.read(({ first }) =>
    first<{ readonly owns: boolean }>(
      "SELECT pg_has_role(relowner, 'USAGE') AS owns FROM pg_class WHERE oid = 'layout'::regclass",
    ),
  );
  return row?.owns ?? false;
}
