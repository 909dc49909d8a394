/**
 * Guarantee: an endpoint is slow only by what its receiver does. While the service is stopped or gets a burst, the tasks
 * of endpoints that answer wait no longer than the work takes.
 */
import { join } from 'node:path';
import { it } from 'vitest';
import { kafkaEnvironment } from '../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../support/kafka/suites.ts';
import { startService } from '../support/service/system.ts';
import { expectNoBlame } from '../support/trials/own-slowness.ts';

const TIMEOUT_MS = 300_000;

it('a service that is late parks no task of an endpoint that answers', { timeout: TIMEOUT_MS }, () =>
  expectNoBlame(({ environment }) => startService(environment)),
);

await describeWithKafka('a service on Kafka that is late', (kafka) => {
  it('parks no task of an endpoint that answers', { timeout: TIMEOUT_MS }, () =>
    expectNoBlame(({ environment, dataDir }) =>
      startService({
        ...environment,
        ...kafkaEnvironment(kafka, freshPrefix()),
        HOOKRAIL_KEYRING: join(dataDir, 'keyring.json'),
      }),
    ),
  );
});
