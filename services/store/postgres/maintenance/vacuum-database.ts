import type { Clock } from '../../../process/clock.ts';
import type { PostgresAddress } from '../client/postgres-address.ts';
import { PostgresDatabase } from '../client/postgres-database.ts';
import { ownsTables, prepareClosed } from '../leaves/closed-leaves.ts';
import { Leaves } from '../leaves/leaves.ts';
import { checkLayout } from '../migrations/migrate.ts';

/** Small tables whose rows had secrets or answers, sealed with the key ring. */
const SMALL = ['endpoint', 'answer', 'outbox'] as const;

/**
 * Writes anew the tables from which erasures have removed bodies, so that their files have nothing of them: VACUUM alone leaves
 * the bytes of removed rows in their pages. Each is locked meanwhile. Then prepares leaves that have ended, which only their
 * owner can. Returns the names of the tables written anew. Rejects with one line for a role that does not own them.
 */
export async function vacuumDatabase(
  address: PostgresAddress,
  clock: Clock,
  leafMs: number,
): Promise<readonly string[]> {
  const options = { address, clock, connectionsMax: 2, applicationName: 'hookrail store vacuum' };
  const database = new PostgresDatabase(options);
  try {
    await checkLayout(database);
    if (!(await ownsTables(database)))
      throw new Error(
        `the role ${address.user} does not own the tables, and cannot write them anew: set HOOKRAIL_POSTGRES_MIGRATE_URL`,
      );
    const written = await writeErasedAnew(database);
    for (const table of SMALL) await database.alone(({ rows }) => rows(`VACUUM (FULL) ${table}`));
    const leaves = new Leaves(database, leafMs);
    while (await prepareClosed(database, leaves, clock.wall()));
    return [...written, ...SMALL];
  } finally {
    await database.close();
  }
}

async function writeErasedAnew(database: PostgresDatabase): Promise<readonly string[]> {
  const erased = await database.read(({ rows }) =>
    rows<{ readonly suffix: string; readonly version: string }>(
      'SELECT suffix, xmin::text AS version FROM erased_leaf ORDER BY suffix',
    ),
  );
  const written: string[] = [];
  for (const { suffix, version } of erased) {
    const table = `body_${suffix}`;
    await database.alone(async ({ first, rows }) => {
      const there = await first<{ readonly name: string | null }>('SELECT to_regclass($1)::text AS name', [
        table,
      ]);
      if (!there?.name) return;
      await rows(`VACUUM (FULL, ANALYZE) ${table}`);
      written.push(table);
    });
    // Unless another erasure has come meanwhile: it writes the row again.
    await database.transaction((tx) =>
      tx.change('DELETE FROM erased_leaf WHERE suffix = $1 AND xmin::text = $2', [suffix, version]),
    );
  }
  return written;
}
