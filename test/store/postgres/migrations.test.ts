/** Guarantee: a database is migrated while it is in use, whole, by whichever process is first; an unknown layout is refused. */
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../services/store/postgres/client/postgres-database.ts';
import {
  checkLayout,
  layoutOf,
  MIGRATIONS,
  type Migration,
  migrate,
  migrateDatabase,
} from '../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { HOUR_MS } from '../../support/records/journal-entries.ts';

const clock = systemClock();
const OPTIONS = { clock, connectionsMax: 1, healthPolicy: TEST_POLICY, leafMs: HOUR_MS };
const change = (sql: string) => ({ kind: 'change', sql }) as const;
const of = (...steps: Migration['steps']): Migration => ({ steps, worksWith: 1 });
const STEPS = [
  of(change('CREATE TABLE step (n int)'), change('INSERT INTO step VALUES (1)')),
  of(change('INSERT INTO step VALUES (2)')),
  of(change('INSERT INTO step VALUES (3)')),
];

await describeWithPostgres('migrations on PostgreSQL', (createDatabase) => {
  async function fresh(connectionsMax = 3) {
    const created = await createDatabase();
    const address = parsePostgresUrl(created.url, undefined);
    const open = () => new PostgresDatabase({ address, connectionsMax, applicationName: 'test', clock });
    const database = open();
    onTestFinished(async () => {
      await database.close();
      await created.drop();
    });
    return { created, address, database, open };
  }

  const valuesOf = async (database: PostgresDatabase, sql: string) =>
    (await database.read(({ rows }) => rows<{ readonly value: unknown }>(sql))).map(({ value }) => value);

  it('are applied once each, by several processes at the same time', async () => {
    const { created, database, open } = await fresh();
    expect((await layoutOf(database, STEPS)).version).toBe(0);
    const others = Array.from({ length: 4 }, open);
    const ran = await Promise.all([database, ...others].map((each) => migrate(each, clock, STEPS)));
    expect(ran.map(({ to }) => to)).toEqual([3, 3, 3, 3, 3]);
    expect(await created.query('SELECT n FROM step ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect((await layoutOf(database, STEPS)).version).toBe(3);
    await Promise.all(others.map((each) => each.close()));
  });

  it('that fail go on with the step that failed', async () => {
    const { created, database } = await fresh();
    const [first = of()] = STEPS;
    const failing = of(change('INSERT INTO step VALUES (2)'), change('INSERT INTO step VALUES (1 / 0)'));
    await expect(migrate(database, clock, [first, failing])).rejects.toThrow('division by zero');
    expect((await layoutOf(database, STEPS)).version).toBe(1);
    const mended = of(change('INSERT INTO step VALUES (2)'), change('INSERT INTO step VALUES (3)'));
    expect(await migrate(database, clock, [first, mended])).toEqual({ from: 1, to: 2 });
    expect(await created.query('SELECT n FROM step ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('refuse the layout of a newer build, unless it works with this one', async () => {
    const { database, address } = await fresh();
    const newer = MIGRATIONS.length + 1;
    const more = [...MIGRATIONS, { steps: [change('SELECT 1')], worksWith: MIGRATIONS.length }];
    await migrateDatabase(address, clock, more);
    await expect(migrate(database, clock)).rejects.toThrow(`has layout ${newer}, this build knows up to`);
    const store = await openPostgresStore({ ...OPTIONS, address });
    await store.close();
    await migrate(database, clock, [...more, { steps: [change('SELECT 1')], worksWith: newer }]);
    await expect(openPostgresStore({ ...OPTIONS, address })).rejects.toThrow('run the newer build');
  });

  it('of another build are refused in one line, and nothing is changed', async () => {
    const { created, database, address } = await fresh();
    await migrate(database, clock, STEPS);
    const said =
      /the tables of the database are of another build \(layout [0-9a-f]{8}, this one has [0-9a-f]{8}\).*createdb/;
    const columns = 'SELECT count(*) AS n FROM information_schema.columns';
    const before = await created.query(columns);
    for (const use of [
      () => migrateDatabase(address, clock),
      () => openPostgresStore({ ...OPTIONS, address }),
    ])
      await expect(use()).rejects.toThrow(said);
    // Of a build that noted nothing of its tables, or was cut off in the first step.
    await created.query('ALTER TABLE layout DROP COLUMN first_id; UPDATE layout SET applied_at = NULL');
    await expect(migrateDatabase(address, clock)).rejects.toThrow('are of another build (layout unknown');
    await created.query('ALTER TABLE layout ADD COLUMN first_id text');
    expect(await created.query(columns)).toEqual(before);
  });

  it('are required: a store refuses a database without them, with the command', async () => {
    const { address } = await fresh();
    const opened = openPostgresStore({ ...OPTIONS, address });
    await expect(opened).rejects.toThrow(
      'has layout 0, this build needs 1: migrate it with hookrail operator store migrate',
    );
  });

  it('fix the width of the leaves at the first start', async () => {
    const { address } = await fresh();
    await migrateDatabase(address, clock);
    for (const leafMs of [6 * HOUR_MS, 6 * HOUR_MS])
      await (await openPostgresStore({ ...OPTIONS, address, leafMs })).close();
    const other = openPostgresStore({ ...OPTIONS, address, leafMs: 24 * HOUR_MS });
    await expect(other).rejects.toThrow(
      'have 6 h, and cannot be changed: set HOOKRAIL_POSTGRES_LEAF_HOURS=6',
    );
  });

  it('of a build that failed keep the builds before it out only where they must', async () => {
    const { database } = await fresh();
    await migrate(database, clock, STEPS);
    const failing = { steps: [change('SELECT 1 / 0')], worksWith: 3 };
    await expect(migrate(database, clock, [...STEPS, failing])).rejects.toThrow('division by zero');
    await checkLayout(database, STEPS);
    await expect(checkLayout(database, STEPS.slice(0, 2))).rejects.toThrow('for builds that know layout 3');
  });

  it('build an index on every leaf, also where an earlier try left an invalid one', async () => {
    const { database } = await fresh();
    const table = `CREATE TABLE part (at int, n int) PARTITION BY RANGE (at);
      CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);
      CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (10) TO (20);
      INSERT INTO part SELECT 1, g / 2 FROM generate_series(1, 10) g`;
    await migrate(database, clock, [of(change(table))]);
    const unique = 'CREATE UNIQUE INDEX CONCURRENTLY part_n_1 ON part_1 (n)';
    await expect(database.alone(({ rows }) => rows(unique))).rejects.toThrow('could not create unique index');
    const index = { kind: 'index', table: 'part', name: 'part_n', columns: 'n' } as const;
    await migrate(database, clock, [of(change(table)), of(index)]);
    const state = await valuesOf(
      database,
      "SELECT relname || ' ' || indisvalid AS value FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname LIKE 'part_n%' ORDER BY relname",
    );
    expect(state).toEqual(['part_n true', 'part_n_1 true', 'part_n_2 true']);
    await database.transaction((tx) =>
      tx.rows('CREATE TABLE part_3 PARTITION OF part FOR VALUES FROM (20) TO (30)'),
    );
    const leaves = "SELECT count(*)::int AS value FROM pg_inherits WHERE inhparent = 'part_n'::regclass";
    expect(await valuesOf(database, leaves)).toEqual([3]);
  });

  it('fill rows in steps, until none is left', async () => {
    const { database } = await fresh();
    const table = 'CREATE TABLE row AS SELECT g AS n, NULL::int AS twice FROM generate_series(1, 25) g';
    const fill = {
      kind: 'fill',
      sql: `UPDATE row SET twice = 2 * n WHERE ctid = ANY (ARRAY
        (SELECT ctid FROM row WHERE twice IS NULL LIMIT 10))`,
    } as const;
    await migrate(database, clock, [of(change(table), fill)]);
    expect(await valuesOf(database, 'SELECT sum(twice)::int AS value FROM row')).toEqual([650]);
  });

  it('do not make writers wait behind a change that waits for a long transaction', async () => {
    const { database, open } = await fresh(4);
    await migrate(database, clock, STEPS);
    const reader = open();
    let end = () => {};
    let reading = Promise.resolve();
    await new Promise<void>((hasRead) => {
      reading = reader.transaction(async ({ rows }) => {
        await rows('SELECT n FROM step');
        hasRead();
        await new Promise<void>((resolve) => {
          end = resolve;
        });
      });
    });
    const more = of(change('ALTER TABLE step ADD COLUMN more int'));
    const migrating = migrate(database, clock, [...STEPS, more]);
    const waiting = "SELECT pid AS value FROM pg_stat_activity WHERE wait_event = 'relation'";
    await eventually('the change waits', async () => (await valuesOf(database, waiting)).length > 0);
    // It waits for the change, which gives up, and not for the reader, which goes on.
    await database.transaction(({ rows }) => rows('INSERT INTO step (n) VALUES (4)'));
    end();
    await reading;
    expect(await migrating).toEqual({ from: 3, to: 4 });
    expect(await valuesOf(database, 'SELECT count(more)::int AS value FROM step')).toEqual([0]);
    await reader.close();
  });
});
