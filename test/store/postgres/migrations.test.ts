/** Guarantee: a database is migrated once, whole, by whichever process is first; an unknown layout is refused. */
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../services/store/postgres/client/postgres-database.ts';
import { layoutOf, MIGRATIONS, migrate } from '../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { HOUR_MS } from '../../support/records/journal-entries.ts';

const OPTIONS = { clock: systemClock(), connectionsMax: 1, healthPolicy: TEST_POLICY, leafMs: HOUR_MS };
const STEPS = [
  'CREATE TABLE step (n int); INSERT INTO step VALUES (1)',
  'INSERT INTO step VALUES (2)',
  'INSERT INTO step VALUES (3)',
];

await describeWithPostgres('migrations on PostgreSQL', (createDatabase) => {
  async function fresh(connectionsMax = 2) {
    const created = await createDatabase();
    const address = parsePostgresUrl(created.url, undefined);
    const open = () => {
      const options = { address, connectionsMax, applicationName: 'test', clock: systemClock() };
      return new PostgresDatabase(options);
    };
    const database = open();
    onTestFinished(async () => {
      await database.close();
      await created.drop();
    });
    return { created, address, database, open };
  }

  it('are applied once each, by several processes at the same time', async () => {
    const { created, database, open } = await fresh();
    expect(await layoutOf(database)).toBe(0);
    const others = Array.from({ length: 4 }, open);
    const ran = await Promise.all([database, ...others].map((each) => migrate(each, STEPS)));
    expect(ran.map(({ to }) => to)).toEqual([3, 3, 3, 3, 3]);
    expect(await created.query('SELECT n FROM step ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await layoutOf(database)).toBe(3);
    await Promise.all(others.map((each) => each.close()));
  });

  it('that fail are rolled back, and run again the next time', async () => {
    const { created, database } = await fresh();
    const [first = '', second = ''] = STEPS;
    await expect(migrate(database, [first, `${second}; SELECT 1 / 0`])).rejects.toThrow('division by zero');
    expect(await layoutOf(database)).toBe(1);
    expect(await created.query('SELECT n FROM step')).toEqual([{ n: 1 }]);
    expect(await migrate(database, STEPS)).toEqual({ from: 1, to: 3 });
  });

  it('refuse the layout of a newer build', async () => {
    const { database, address } = await fresh();
    await migrate(database, [...MIGRATIONS, 'SELECT 1']);
    const newer = MIGRATIONS.length + 1;
    await expect(migrate(database)).rejects.toThrow(`has layout ${newer}, this build knows up to`);
    const opened = openPostgresStore({ ...OPTIONS, address });
    await expect(opened).rejects.toThrow('run the newer build');
  });

  it('are required: a store refuses a database without them', async () => {
    const { address } = await fresh();
    const opened = openPostgresStore({ ...OPTIONS, address });
    await expect(opened).rejects.toThrow('has layout 0, this build needs 2: migrate it first');
  });
});
