/**
 * Guarantee, on Kafka: nothing acknowledged is lost, nothing comes early, and duplicates come only from faults, whatever
 * dies when. One api, two routers and two senders run as processes on three brokers, while a nemesis with a printed seed
 * kills -9 brokers that lead and processes of each role, and forces rebalances. Judged by the receivers' own log.
 * KILL_LOOP_* makes it longer: `npm run kill-loop`.
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
const KILLS_PER_ROLE = count('KILL_LOOP_KAFKA_KILLS_PER_ROLE', 1);
const LOOP: LoopOptions = {
  seed: count('KILL_LOOP_SEED', Math.floor(Math.random() * 2 ** 31)),
  events: count('KILL_LOOP_KAFKA_EVENTS', 300),
  retryScale: count('KILL_LOOP_KAFKA_RETRY_SCALE', 10_000),
  atOnce: count('KILL_LOOP_KAFKA_AT_ONCE', 3),
  faults: {
    broker: count('KILL_LOOP_KAFKA_LEADER_KILLS', 1),
    rebalance: count('KILL_LOOP_KAFKA_REBALANCES', 1),
    api: KILLS_PER_ROLE,
    router: KILLS_PER_ROLE,
    sender: KILLS_PER_ROLE,
  },
};
/** The endpoints that always fail take a few requests at a time, and seven of each delivery. */
const ENDED_MS_MAX = 180_000 + LOOP.events * 50;
const TIMEOUT_MS = 400_000 + faultsInAll(LOOP) * 60_000 + LOOP.events * 50;

await describeWithOwnKafka('hookrail on a Kafka of three brokers', 3, (cluster) => {
  let trial: Trial | undefined;

  afterAll(() => trial?.abandon(), 30_000);

  it(`loses nothing over ${faultsInAll(LOOP)} faults and ${LOOP.events} events (seed ${LOOP.seed})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const chance = new Chance('kill loop', `${LOOP.seed}`);
    trial = await Trial.start({
      cluster: cluster(),
      chance,
      routers: 2,
      senders: 2,
      answerMs: [5, 60],
      environment: { HOOKRAIL_RETRY_SCALE: `${LOOP.retryScale}` },
    });
    const nemesis = startNemesis(trial, cluster(), chance);
    await injectFaults(trial, nemesis, LOOP);
    await trial.untilEnded(ENDED_MS_MAX);
    await report(trial, nemesis, LOOP);
    await trial.stop();
  });
});
