/**
 * Guarantee: a key opens what is its merchant's, and nothing else (test/contract/api/access-suite.ts); two apis on one
 * PostgreSQL that answer in turn.
 */
import { accessSuite } from '../../contract/api/access-suite.ts';
import { onDatabase } from '../../support/api/test-api.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';

await describeWithPostgres('two apis on one PostgreSQL', (createDatabase) => {
  accessSuite(onDatabase(createDatabase));
});
