/**
 * Guarantee, on Kafka: nothing acknowledged is lost, nothing comes early, and duplicates come only from faults, whatever
 * dies when. One api, two routers and two senders run as processes on three brokers, while a nemesis with a printed seed
 * kills -9 brokers that lead and processes of each role, and forces rebalances. Judged by the receivers' own log.
 * The long form: `npm run kill-loop`.
 */
import { faultLoop } from '../../support/faults/fault-loop.ts';
import { describeWithOwnKafka } from '../../support/kafka/suites.ts';
import { seedOf, sizeOf } from '../../support/long-runs.ts';

const KILLS_PER_ROLE = sizeOf('KILL_LOOP_KAFKA_KILLS_PER_ROLE');

await describeWithOwnKafka('hookrail on a Kafka of three brokers', 3, (cluster) =>
  faultLoop({
    cluster,
    seed: seedOf('KILL_LOOP_SEED'),
    events: sizeOf('KILL_LOOP_KAFKA_EVENTS'),
    retryScale: sizeOf('KILL_LOOP_KAFKA_RETRY_SCALE'),
    atOnce: sizeOf('KILL_LOOP_KAFKA_AT_ONCE'),
    faults: {
      broker: sizeOf('KILL_LOOP_KAFKA_LEADER_KILLS'),
      rebalance: sizeOf('KILL_LOOP_KAFKA_REBALANCES'),
      api: KILLS_PER_ROLE,
      router: KILLS_PER_ROLE,
      sender: KILLS_PER_ROLE,
    },
    trial: () => ({ routers: 2, senders: 2 }),
    // The endpoints that always fail take a few requests at a time, and seven of each delivery.
    endedMs: [180_000, 50],
  }),
);
