import type { Database } from 'better-sqlite3';

/** Returns the number after the highest ever used: the indexes remember deleted rows' numbers. */
export function nextSeq(db: Database, table: 'event' | 'delivery'): number {
  return db
    .prepare(
      `SELECT 1 + max(max(value), coalesce((SELECT max(seq) FROM ${table}), 0)) FROM meta
       WHERE name IN ('${table}_indexed_to', '${table}_listed_to')`,
    )
    .pluck()
    .get() as number;
}
