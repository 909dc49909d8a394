/**
 * Guarantee: as ../rotations.test.ts, with Kafka: api, router and sender are processes of their own, and learn of secrets and
 * endpoints by the directory alone.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { Fleet } from '../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';
import { rotationGuarantees } from '../../support/trials/rotation-guarantees.ts';
import { RotationTrial } from '../../support/trials/rotation-trial.ts';

const START_MS_MAX = 120_000;

await describeWithKafka('rotations and creates', (kafka) => {
  const topicPrefix = freshPrefix();
  const environment = kafkaEnvironment(kafka, topicPrefix);
  let setup: ServiceSetup;
  let fleet: Fleet;
  let trial: RotationTrial;

  beforeAll(async () => {
    setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '100' });
    fleet = new Fleet({ setup, ...kafka, topicPrefix, environment });
    await fleet.start(1, 1);
    trial = await RotationTrial.start(setup, () => fleet.api.service);
  }, START_MS_MAX);

  afterAll(async () => {
    await fleet?.kill();
    await trial?.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  });

  rotationGuarantees('kafka', () => trial);
});
