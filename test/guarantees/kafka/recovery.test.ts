/**
 * Guarantee, on Kafka: an endpoint that hangs, refuses connections or answers 503 for a while gets new events at once
 * after its recovery. Waiting ones arrive within the longest parking time, 66 s, and the endpoint's drain time.
 * RECOVERY_DARK_SECONDS=20,60,600 measures longer failures, and judges by the promised times; without it the bounds
 * leave room for a busy machine.
 */
import { join } from 'node:path';
import { it } from 'vitest';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { startService } from '../../support/service/system.ts';
import { DARK_SECONDS, expectRecovery, ratesOr } from '../../support/trials/recovery-guarantee.ts';

const BOUNDS = { engine: 'kafka', rates: ratesOr('5'), afterSeconds: 95, neverTriedMs: 75_000 };

await describeWithKafka('the recovery of endpoints on Kafka', (kafka) => {
  it.each(DARK_SECONDS)(
    'after failing for %d s brings everything that waited soon, and new events at once',
    { timeout: (Math.max(...DARK_SECONDS) + BOUNDS.afterSeconds + 120) * 1000 },
    (darkSeconds) =>
      expectRecovery({ ...BOUNDS, darkSeconds }, ({ environment, dataDir }) =>
        startService({
          ...environment,
          ...kafkaEnvironment(kafka, freshPrefix()),
          HOOKRAIL_KEYRING: join(dataDir, 'keyring.json'),
        }),
      ),
  );
});
