import type { PostgresDatabase } from '../client/postgres-database.ts';

/** A part of a migration, beside which readers and writers go on. It can be repeated after it was cut off. */
export type Step =
  /** Statements in one short transaction, which locks tables for a moment only. */
  | { readonly kind: 'change'; readonly sql: string }
  /** An index, built without stopping writers; on a partitioned table on each of its leaves. */
  | {
      readonly kind: 'index';
      readonly table: string;
      readonly name: string;
      /** Between the parentheses, such as `endpoint, created_at`. */
      readonly columns: string;
    }
  /** A statement that changes some of the rows that are left, repeated until it changes none. */
  | { readonly kind: 'fill'; readonly sql: string };

/** Readers and writers wait no longer than this for a step. */
const LOCK_MS = 2_000;
/** The pause before a change is tried again that did not get its lock. */
const RETRY_MS = 500;
const LOCK_ATTEMPTS = 240;

/** Carries out a step. `done` is called within the transaction of a change, else after the step. */
export async function carryOut(
  database: PostgresDatabase,
  step: Step,
  { sleep, done }: { sleep(ms: number): Promise<void>; readonly done: string },
): Promise<void> {
  if (step.kind === 'change') return changeTables(database, `${step.sql};\n${done}`, sleep);
  if (step.kind === 'index') await buildIndex(database, step, sleep);
  else while ((await database.transaction((tx) => tx.change(step.sql))) > 0);
  await database.transaction((tx) => tx.rows(done));
}

/** Retries while a long transaction of another process has the table: a waiting lock makes all behind it wait, too. */
async function changeTables(
  database: PostgresDatabase,
  sql: string,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.transaction(async (tx) => {
        await tx.rows(`SET LOCAL lock_timeout = ${LOCK_MS}`);
        await tx.rows(sql);
      });
    } catch (error) {
      if (!isLocked(error) || attempt === LOCK_ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function isLocked(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code === '55P03';
}

interface Leaf {
  readonly leaf: string;
}

async function buildIndex(
  database: PostgresDatabase,
  { table, name, columns }: Extract<Step, { readonly kind: 'index' }>,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  const kind = await database.read(({ first }) =>
    first<{ readonly relkind: string }>('SELECT relkind FROM pg_class WHERE oid = to_regclass($1)', [table]),
  );
  if (kind?.relkind !== 'p') return buildOne(database, table, name, columns);
  // Leaves that are made from now on have it.
  await changeTables(database, `CREATE INDEX IF NOT EXISTS ${name} ON ONLY ${table} (${columns})`, sleep);
  const lacking = await database.read(({ rows }) =>
    rows<Leaf>(
      `SELECT i.inhrelid::regclass::text AS leaf FROM pg_inherits i WHERE i.inhparent = $1::regclass AND NOT EXISTS
       (SELECT FROM pg_inherits a JOIN pg_index x ON x.indexrelid = a.inhrelid
        WHERE a.inhparent = to_regclass($2) AND x.indrelid = i.inhrelid) ORDER BY leaf`,
      [table, name],
    ),
  );
  for (const { leaf } of lacking) {
    const own = `${name}_${leaf.slice(table.length + 1)}`;
    await buildOne(database, leaf, own, columns);
    await changeTables(database, `ALTER INDEX ${name} ATTACH PARTITION ${own}`, sleep);
  }
}

/** Builds the index of one table. One that was cut off is left invalid: it is dropped first. */
async function buildOne(
  database: PostgresDatabase,
  table: string,
  name: string,
  columns: string,
): Promise<void> {
  await database.alone(async ({ first, rows }) => {
    const there = await first<{ readonly indisvalid: boolean }>(
      'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [name],
    );
    if (there?.indisvalid) return;
    if (there) await rows(`DROP INDEX CONCURRENTLY ${name}`);
    await rows(`CREATE INDEX CONCURRENTLY ${name} ON ${table} (${columns})`);
  });
}
