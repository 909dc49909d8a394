import type { PostgresDatabase } from '../client/postgres-database.ts';

const HOUR_MS = 3_600_000;

/**
 * Fixes the span of the database's leaves when it is used for the first time. Throws one line when it has another: leaves
 * of two widths would overlap.
 */
export async function checkLeafWidth(database: PostgresDatabase, leafMs: number): Promise<void> {
  const read = "SELECT value FROM meta WHERE name = 'leaf_ms'";
  type Row = { readonly value: string };
  let row = await database.read(({ first }) => first<Row>(read));
  row ??= await database.transaction(async ({ change, first }) => {
    await change("INSERT INTO meta VALUES ('leaf_ms', $1) ON CONFLICT DO NOTHING", [`${leafMs}`]);
    return first<Row>(read);
  });
  const hours = Number(row?.value) / HOUR_MS;
  if (hours === leafMs / HOUR_MS) return;
  throw new Error(
    `the partitions of this database have ${hours} h, and cannot be changed: set HOOKRAIL_POSTGRES_LEAF_HOURS=${hours}`,
  );
}
