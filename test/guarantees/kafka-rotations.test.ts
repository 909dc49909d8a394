/**
 * Guarantee: as rotations.test.ts, with Kafka: api, router and sender are processes of their own, and learn of secrets and
 * endpoints by the directory alone.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithKafka, freshPrefix } from '../support/kafka.ts';
import { kafkaEnvironment } from '../support/kafka-environment.ts';
import { Fleet } from '../support/kafka-fleet.ts';
import {
  createsText,
  RotationTrial,
  rotationsText,
  TRIAL_MS_MAX,
  TRIAL_SIZES,
} from '../support/rotation-trial.ts';
import { type Premises, preparePremises } from '../support/system.ts';

const START_MS_MAX = 120_000;

await describeWithKafka('rotations and creates', (kafka) => {
  const topicPrefix = freshPrefix();
  const environment = kafkaEnvironment(kafka, topicPrefix);
  let premises: Premises;
  let fleet: Fleet;
  let trial: RotationTrial;

  beforeAll(async () => {
    premises = await preparePremises({ HOOKRAIL_RETRY_SCALE: '100' });
    fleet = new Fleet({ premises, ...kafka, topicPrefix, environment });
    await fleet.start(1, 1);
    trial = await RotationTrial.start(premises, () => fleet.api.service);
  }, START_MS_MAX);

  afterAll(async () => {
    await fleet?.kill();
    await trial?.close();
    rmSync(premises.dataDir, { recursive: true, force: true });
  });

  it(`${TRIAL_SIZES.rotations} rotations under load`, { timeout: TRIAL_MS_MAX }, async () => {
    const result = await trial.rotate(TRIAL_SIZES.rotations);
    console.log(rotationsText('kafka', result));
    expect(result.wrong).toEqual([]);
    expect(result.requests).toBeGreaterThan(TRIAL_SIZES.rotations / 2);
  });

  it(`${TRIAL_SIZES.creates} endpoints, each with an event a second after it was made`, {
    timeout: TRIAL_MS_MAX,
  }, async () => {
    const result = await trial.create(TRIAL_SIZES.creates);
    console.log(createsText('kafka', result));
    expect(result.missed).toEqual([]);
    expect(result.unhealthy).toBeLessThan(result.creates / 2);
  });
});
