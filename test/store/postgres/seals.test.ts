import { systemClock } from '../../../services/process/clock.ts';
import { sealsContract } from '../../contract/management/store-seals.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { postgresPlace } from './postgres-place.ts';

await describeWithPostgres('on PostgreSQL', (createDatabase) => {
  sealsContract('postgres', async () => {
    const place = await postgresPlace(createDatabase, systemClock());
    return {
      open: (keyRing) => place.open(keyRing),
      async write(sql) {
        await place.database.query(sql);
      },
      dispose: () => place.dispose(),
    };
  });
});
