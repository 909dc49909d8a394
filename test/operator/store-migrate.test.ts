/** The migration of a database that has a store is in its audit; a new database stays empty, so that a copy can fill it. */
import { expect, it } from 'vitest';
import { systemClock } from '../../services/process/clock.ts';
import { parsePostgresUrl } from '../../services/store/postgres/client/postgres-address.ts';
import { MIGRATIONS, migrateDatabase } from '../../services/store/postgres/migrations/migrate.ts';
import { describeWithPostgres } from '../support/postgres/suites.ts';
import { toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup } from '../support/service/system.ts';

await describeWithPostgres('store migrate', (createDatabase) => {
  it.each([
    ['a new database', 0],
    ['a database of an earlier version', 2],
  ])('records the migration where there is a store: %s', async (_what, layout) => {
    const database = await createDatabase();
    const address = parsePostgresUrl(database.url, undefined);
    if (layout > 0) await migrateDatabase(address, systemClock(), MIGRATIONS.slice(0, layout));
    const { environment } = await prepareSetup({
      HOOKRAIL_STORE: 'postgres',
      HOOKRAIL_POSTGRES_URL: database.url,
      HOOKRAIL_ENGINE: 'kafka',
      HOOKRAIL_KAFKA_BROKERS: '127.0.0.1:1',
      HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
      HOOKRAIL_OPERATOR: 'ann',
    });
    const versions = { from: layout, to: MIGRATIONS.length };
    const tool = (...argv: string[]) => toolAnswer({ ...environment, HOOKRAIL_OPS_PORT: '1' }, ...argv);
    expect(await tool('store', 'migrate')).toEqual(versions);
    expect(await tool('store', 'migrate')).toEqual({ from: versions.to, to: versions.to });
    const entries = await tool('audit', 'list');
    if (layout === 0) expect(entries).toEqual([]);
    else expect(entries).toMatchObject([{ action: 'store.migrate', person: 'ann', details: versions }]);
    await database.drop();
  });
});
