/**
 * Guarantee, on Kafka: a process or broker that stands still and goes on, while others have taken over its work, loses
 * nothing and sends nothing early, and every acknowledged delivery ends; the schema registry is away meanwhile. Events
 * come from a transactional producer that is not hookrail's; some receivers fail, hang and refuse in phases. The long
 * form: `npm run pause-loop`.
 */
import { faultLoop } from '../../support/faults/fault-loop.ts';
import { describeWithOwnKafka } from '../../support/kafka/suites.ts';
import { seedOf, sizeOf } from '../../support/long-runs.ts';

const PAUSES = sizeOf('PAUSE_LOOP_PAUSES');
const KILLS = sizeOf('PAUSE_LOOP_KILLS');
const PAUSE_MS = sizeOf('PAUSE_LOOP_SECONDS') * 1000;
const ATTEMPT_SECONDS = '2';

await describeWithOwnKafka('hookrail with paused processes on a Kafka of three brokers', 3, (cluster) =>
  faultLoop({
    cluster,
    seed: seedOf('PAUSE_LOOP_SEED'),
    events: sizeOf('PAUSE_LOOP_EVENTS'),
    retryScale: sizeOf('PAUSE_LOOP_RETRY_SCALE'),
    atOnce: sizeOf('PAUSE_LOOP_AT_ONCE'),
    faults: {
      'pause-sender': PAUSES,
      'pause-router': PAUSES,
      'pause-broker': PAUSES,
      registry: PAUSES,
      broker: KILLS,
      sender: KILLS,
      router: KILLS,
      rebalance: KILLS,
    },
    pauseMs: PAUSE_MS,
    faultMs: 60_000 + PAUSE_MS,
    trial: () => ({
      ...{ routers: 2, senders: 2 },
      manners: ['good', 'moody', 'hanging', 'refusing'],
      hasForeignProducer: true,
      environment: {
        HOOKRAIL_ATTEMPT_TIMEOUT_SECONDS: ATTEMPT_SECONDS,
        HOOKRAIL_CONNECT_TIMEOUT_SECONDS: ATTEMPT_SECONDS,
      },
    }),
    // Endpoints that hang take a few requests at a time, each until its time-out.
    endedMs: [240_000, 60],
  }),
);
