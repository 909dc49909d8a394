/** A database that was migrated for the first time stays empty, so that a copy can fill it. */
import { expect, it } from 'vitest';
import { MIGRATIONS } from '../../services/store/postgres/migrations/migrate.ts';
import { describeWithPostgres } from '../support/postgres/suites.ts';
import { toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup } from '../support/service/system.ts';

await describeWithPostgres('store migrate', (createDatabase) => {
  it('makes the tables of a new database, and leaves it empty', async () => {
    const database = await createDatabase();
    const { environment } = await prepareSetup({
      HOOKRAIL_STORE: 'postgres',
      HOOKRAIL_POSTGRES_URL: database.url,
      HOOKRAIL_ENGINE: 'kafka',
      HOOKRAIL_KAFKA_BROKERS: '127.0.0.1:1',
      HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
      HOOKRAIL_OPERATOR: 'ann',
    });
    const versions = { from: 0, to: MIGRATIONS.length };
    const tool = (...argv: string[]) => toolAnswer({ ...environment, HOOKRAIL_OPS_PORT: '1' }, ...argv);
    expect(await tool('store', 'migrate')).toEqual(versions);
    expect(await tool('store', 'migrate')).toEqual({ from: versions.to, to: versions.to });
    expect(await tool('audit', 'list')).toEqual([]);
    await database.drop();
  });
});
