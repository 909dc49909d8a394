/**
 * Guarantee: each cause sends one operational notice while the process with api and recorder is killed. Like
 * `notices-kill-loop`, without the causes that take a day: the clock of a service on Kafka cannot be moved.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Chance } from '../../../services/samples/chance.ts';
import { Fleet } from '../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { seedOf, sizeOf } from '../../support/long-runs.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';
import { Causes } from '../../support/trials/notices/causes.ts';
import { killWhileCausing, NOTICE_LOOP_ENVIRONMENT } from '../../support/trials/notices/kill-loop.ts';
import { expectEachToldOnce } from '../../support/trials/notices/told.ts';

const SEED = seedOf('NOTICE_LOOP_SEED');
const KILLS = sizeOf('NOTICE_LOOP_KAFKA_KILLS');
const START_MS = 120_000;
/** The types of the second operational endpoint. */
const TYPES = ['endpoint.disabled', 'endpoint.recovered'];

await describeWithKafka('notices on Kafka', (kafka) => {
  let own: ServiceSetup;
  let fleet: Fleet;
  let causes: Causes;
  const chance = new Chance('notice loop on Kafka', `${SEED}`);
  beforeAll(async () => {
    own = await prepareSetup(NOTICE_LOOP_ENVIRONMENT);
    fleet = new Fleet({ setup: own, ...kafka, topicPrefix: freshPrefix() });
    await fleet.start(1, 1);
    causes = await Causes.start({
      setup: own,
      service: () => fleet.api.service,
      random: () => chance.below(1000) / 1000,
    });
  }, START_MS);
  afterAll(async () => {
    await fleet?.kill();
    await causes?.receiver.close();
    if (own) rmSync(own.dataDir, { recursive: true, force: true });
  });

  it(`are sent once for each cause over ${KILLS} kills (seed ${SEED})`, {
    timeout: 300_000 + KILLS * 60_000,
  }, async () => {
    const all = await causes.endpoint('ops', { kind: 'operational' });
    const some = await causes.endpoint('ops-some', { kind: 'operational', subscribed_events: TYPES });
    await killWhileCausing({
      ...{ causes, chance, kills: KILLS },
      kill: async () => {
        expect(await fleet.api.end('SIGKILL')).toBeNull();
        await fleet.api.start();
      },
    });
    await expectEachToldOnce(causes, { all, some, types: TYPES, exhausting: [] });
  });
});
