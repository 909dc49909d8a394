/**
 * Guarantee: two apis on PostgreSQL behind one address, which answer in turn, do what their description says
 * (test/contract/api/schemathesis-suite.ts). They get half of the generated requests.
 */

import {
  EXAMPLES_MIN,
  FUZZED_ENVIRONMENT,
  schemathesisSuite,
  type Tested,
} from '../../contract/api/schemathesis-suite.ts';
import { describeWithSchemathesis } from '../../support/api/schemathesis.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { addMerchant } from '../../support/service/add-merchant.ts';
import { startTwoApis, type TwoApisOptions } from '../../support/service/two-apis.ts';

async function startTwo(place: Pick<TwoApisOptions, 'kafka' | 'createDatabase'>): Promise<Tested> {
  const two = await startTwoApis({ ...place, environment: FUZZED_ENVIRONMENT, delivers: true });
  const { fleet, balancer } = two;
  return {
    ...two,
    otherMerchantId: await addMerchant(two.setup),
    apiUrl: balancer.apiUrl,
    apis: fleet.of('api').map(({ service }) => service),
    stop: () => Promise.all(fleet.processes.map((each) => each.end('SIGTERM'))),
  };
}

await describeWithSchemathesis('Schemathesis', (install) =>
  describeWithKafka('with two apis behind one address', (kafka) =>
    describeWithPostgres('on PostgreSQL', (createDatabase) =>
      schemathesisSuite(install, () => startTwo({ kafka, createDatabase }), Math.ceil(EXAMPLES_MIN / 2)),
    ),
  ),
);
