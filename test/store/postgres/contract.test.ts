import { systemClock } from '../../../services/process/clock.ts';
import { managementContractOf } from '../../contract/store.contract.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { postgresPlace } from './postgres-place.ts';

await describeWithPostgres('on PostgreSQL', (createDatabase) => {
  managementContractOf('postgres', () => postgresPlace(createDatabase, systemClock()));
});
