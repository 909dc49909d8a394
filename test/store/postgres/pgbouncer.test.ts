/**
 * Guarantee: the store keeps its contract through PgBouncer in transaction mode, where each transaction may get another
 * connection to the server: nothing rests on a session.
 */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { migrateDatabase } from '../../../services/store/postgres/migrations/migrate.ts';
import { storeContract } from '../../contract/store.contract.ts';
import {
  describeWherePgBouncerStarts,
  type PgBouncer,
  startPgBouncer,
} from '../../support/postgres/pgbouncer.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { migrateAsOwner, postgresPlace } from './postgres-place.ts';

await describeWithPostgres('on PostgreSQL', (createDatabase) => {
  describeWherePgBouncerStarts('through PgBouncer in transaction mode', () => {
    let bouncer: PgBouncer;
    beforeAll(async () => {
      const database = await createDatabase();
      bouncer = await startPgBouncer(database.running);
      await database.drop();
    });
    afterAll(() => bouncer?.stop());
    it('refuses to migrate, which needs a session, unless there is nothing to do', async () => {
      const database = await createDatabase();
      onTestFinished(() => database.drop());
      const pooled = parsePostgresUrl(bouncer.through(database.url), undefined);
      await expect(migrateDatabase(pooled, systemClock())).rejects.toThrow('not migrated through PgBouncer');
      await migrateAsOwner(database, systemClock());
      const { from, to } = await migrateDatabase(pooled, systemClock());
      expect(from).toBe(to);
    });

    storeContract('postgres', () =>
      postgresPlace(createDatabase, systemClock(), { through: (url) => bouncer.through(url) }),
    );
  });
});
