/**
 * Guarantee, on Kafka and PostgreSQL with two apis and two recorders: whatever dies or stalls when, PostgreSQL included,
 * nothing acknowledged is lost, neither an event nor a change of an endpoint, and the delivery log equals what arrived at
 * the receivers. KILL_LOOP_* makes it longer: `npm run kill-loop`.
 */
import { afterAll, it } from 'vitest';
import { Chance } from '../../../services/samples/chance.ts';
import {
  faultsInAll,
  injectFaults,
  type LoopOptions,
  report,
  startNemesis,
} from '../../support/faults/loop.ts';
import { describeWithOwnKafka } from '../../support/kafka/suites.ts';
import { describeWithOwnPostgres } from '../../support/postgres/suites.ts';
import { Trial } from '../../support/trials/kafka-trial.ts';
import { expectLogEqualsArrivals } from '../../support/trials/log-against-arrivals.ts';
import { ManagementWriter } from '../../support/trials/management-writer.ts';

const count = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const OF_EACH = count('KILL_LOOP_POSTGRES_FAULTS_OF_EACH', 1);
const LOOP: LoopOptions = {
  seed: count('KILL_LOOP_SEED', Math.floor(Math.random() * 2 ** 31)),
  events: count('KILL_LOOP_POSTGRES_EVENTS', 300),
  retryScale: count('KILL_LOOP_KAFKA_RETRY_SCALE', 10_000),
  atOnce: count('KILL_LOOP_KAFKA_AT_ONCE', 2),
  faults: {
    api: OF_EACH,
    recorder: OF_EACH,
    'pause-api': OF_EACH,
    'pause-recorder': OF_EACH,
    postgres: OF_EACH,
  },
};
/** Longer than a lease lasts, and than Kafka waits for a member of a group. */
const PAUSE_MS = 12_000;
const ENDED_MS_MAX = 180_000 + LOOP.events * 50;
const TIMEOUT_MS = 400_000 + faultsInAll(LOOP) * 60_000 + LOOP.events * 50;

await describeWithOwnKafka('hookrail on a Kafka of three brokers', 3, (cluster) => {
  describeWithOwnPostgres('with a PostgreSQL that is killed', (postgres) => {
    let trial: Trial | undefined;
    afterAll(() => trial?.abandon(), 60_000);

    it(`loses nothing over ${faultsInAll(LOOP)} faults and ${LOOP.events} events (seed ${LOOP.seed})`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      const chance = new Chance('kill loop', `${LOOP.seed}`);
      trial = await Trial.start({
        cluster: cluster(),
        chance,
        routers: 1,
        senders: 1,
        postgres: { url: postgres().url(), apis: 2, recorders: 2 },
        answerMs: [5, 60],
        environment: { HOOKRAIL_RETRY_SCALE: `${LOOP.retryScale}` },
      });
      const nemesis = startNemesis(trial, cluster(), chance, { pauseMs: PAUSE_MS, postgres: postgres() });
      const writer = new ManagementWriter(trial.merchant);
      writer.start();
      await injectFaults(trial, nemesis, LOOP);
      await writer.stop();
      await trial.untilEnded(ENDED_MS_MAX);
      await report(trial, nemesis, LOOP);
      await expectLogEqualsArrivals(trial);
      await writer.expectKept();
      console.log(
        `kill loop on PostgreSQL: ${writer.acknowledged} changes acknowledged, all kept; ${writer.refused} requests repeated`,
      );
      await trial.stop();
    });
  });
});
