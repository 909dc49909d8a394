import { systemClock } from '../../../services/process/clock.ts';
import { storeContract } from '../../contract/store.contract.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { postgresPlace } from './postgres-place.ts';

await describeWithPostgres('on PostgreSQL', (createDatabase) => {
  storeContract('postgres', () => postgresPlace(createDatabase, systemClock()));
});
