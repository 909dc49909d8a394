import type { Database } from 'better-sqlite3';

/** Returns the number after the highest ever used: the index remembers deleted rows' numbers. */
export function nextSeq(db: Database, table: 'event' | 'delivery'): number {
  return db
    .prepare(
      `SELECT 1 + max(value, coalesce((SELECT max(seq) FROM ${table}), 0)) FROM meta WHERE name =
       '${table}_indexed_to'`,
    )
    .pluck()
    .get() as number;
}
