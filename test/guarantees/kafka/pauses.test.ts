/**
 * Guarantee, on Kafka: a process or broker that stands still and goes on, while others have taken over its work, loses
 * nothing and sends nothing early, and every acknowledged delivery ends; the schema registry is away meanwhile. Events
 * come from a transactional producer that is not hookrail's; some receivers fail, hang and refuse in phases. PAUSE_LOOP_* makes it longer: `npm run pause-loop`.
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
import { Trial } from '../../support/trials/kafka-trial.ts';

const count = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const PAUSES = count('PAUSE_LOOP_PAUSES', 1);
const KILLS = count('PAUSE_LOOP_KILLS', 0);
const LOOP: LoopOptions = {
  seed: count('PAUSE_LOOP_SEED', Math.floor(Math.random() * 2 ** 31)),
  events: count('PAUSE_LOOP_EVENTS', 300),
  retryScale: count('PAUSE_LOOP_RETRY_SCALE', 10_000),
  atOnce: count('PAUSE_LOOP_AT_ONCE', 4),
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
};
const PAUSE_MS = count('PAUSE_LOOP_SECONDS', 15) * 1000;
const ATTEMPT_SECONDS = 2;
/** Endpoints that hang take a few requests at a time, each until its time-out. */
const ENDED_MS_MAX = 240_000 + LOOP.events * 60;
const TIMEOUT_MS = 400_000 + faultsInAll(LOOP) * (60_000 + PAUSE_MS) + LOOP.events * 60;

await describeWithOwnKafka('hookrail with paused processes on a Kafka of three brokers', 3, (cluster) => {
  let trial: Trial | undefined;

  afterAll(() => trial?.abandon(), 30_000);

  it(`loses nothing over ${faultsInAll(LOOP)} faults and ${LOOP.events} events (seed ${LOOP.seed})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const chance = new Chance('pause loop', `${LOOP.seed}`);
    trial = await Trial.start({
      cluster: cluster(),
      chance,
      routers: 2,
      senders: 2,
      answerMs: [5, 60],
      manners: ['good', 'moody', 'hanging', 'refusing'],
      hasForeignProducer: true,
      environment: {
        HOOKRAIL_RETRY_SCALE: `${LOOP.retryScale}`,
        HOOKRAIL_ATTEMPT_TIMEOUT_SECONDS: `${ATTEMPT_SECONDS}`,
        HOOKRAIL_CONNECT_TIMEOUT_SECONDS: `${ATTEMPT_SECONDS}`,
      },
    });
    const nemesis = startNemesis(trial, cluster(), chance, { pauseMs: PAUSE_MS });
    await injectFaults(trial, nemesis, LOOP);
    await trial.untilEnded(ENDED_MS_MAX);
    await report(trial, nemesis, LOOP);
    await trial.stop();
  });
});
