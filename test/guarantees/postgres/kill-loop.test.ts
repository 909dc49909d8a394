/**
 * Guarantee, on Kafka and PostgreSQL with two apis and two recorders: whatever dies or stalls when, PostgreSQL included,
 * nothing acknowledged is lost, neither an event nor a change of an endpoint, and the delivery log equals what arrived at
 * the receivers. The long form: `npm run kill-loop`.
 */
import { faultLoop } from '../../support/faults/fault-loop.ts';
import { describeWithOwnKafka } from '../../support/kafka/suites.ts';
import { seedOf, sizeOf } from '../../support/long-runs.ts';
import { describeWithOwnPostgres } from '../../support/postgres/suites.ts';
import { expectLogEqualsArrivals } from '../../support/trials/log-against-arrivals.ts';
import { ManagementWriter } from '../../support/trials/management-writer.ts';

const OF_EACH = sizeOf('KILL_LOOP_POSTGRES_FAULTS_OF_EACH');

await describeWithOwnKafka('hookrail on a Kafka of three brokers', 3, (cluster) => {
  describeWithOwnPostgres('with a PostgreSQL that is killed', (postgres) =>
    faultLoop({
      ...{ cluster, postgres },
      seed: seedOf('KILL_LOOP_SEED'),
      events: sizeOf('KILL_LOOP_POSTGRES_EVENTS'),
      retryScale: sizeOf('KILL_LOOP_KAFKA_RETRY_SCALE'),
      atOnce: sizeOf('KILL_LOOP_POSTGRES_AT_ONCE'),
      faults: {
        api: OF_EACH,
        recorder: OF_EACH,
        'pause-api': OF_EACH,
        'pause-recorder': OF_EACH,
        postgres: OF_EACH,
      },
      // Longer than a lease lasts, and than Kafka waits for a member of a group.
      pauseMs: 12_000,
      trial: () => ({ routers: 1, senders: 1, postgres: { url: postgres().url(), apis: 2, recorders: 2 } }),
      endedMs: [180_000, 50],
      beside(trial) {
        const writer = new ManagementWriter(trial.merchant);
        writer.start();
        return {
          end: () => writer.stop(),
          async expect() {
            await expectLogEqualsArrivals(trial);
            await writer.expectKept();
            console.log(
              `kill loop on PostgreSQL: ${writer.acknowledged} changes acknowledged, all kept; ${writer.refused} requests repeated`,
            );
          },
        };
      },
    }),
  );
});
