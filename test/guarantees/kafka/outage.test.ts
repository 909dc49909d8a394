/**
 * Guarantee, on Kafka: when all brokers are away for a while under load, then the registry, then the api process,
 * work resumes by itself, no acknowledged event is lost, and readiness told the truth throughout.
 * The long form: `npm run kill-loop`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { Chance } from '../../../services/samples/chance.ts';
import { eventually } from '../../support/eventually.ts';
import { untilHealed, untilSettled } from '../../support/kafka/cluster-state.ts';
import { twiceUnready, watchReadiness } from '../../support/kafka/readiness-watch.ts';
import { describeWithOwnKafka } from '../../support/kafka/suites.ts';
import { sizeOf } from '../../support/long-runs.ts';
import { judge, REPEATS_MS } from '../../support/models/delivery-checker.ts';
import { Trial } from '../../support/trials/kafka-trial.ts';
import { publishSteadily } from '../../support/trials/publishing.ts';

const OUTAGE_MS = sizeOf('KILL_LOOP_KAFKA_OUTAGE_SECONDS') * 1000;
const RETRY_SCALE = 10_000;
const PUBLISH_PAUSE_MS = 500;
/** Readiness may be behind the truth for so long. */
const NOTICED_MS_MAX = 12_000;
const BACK_MS_MAX = 60_000;
const QUIET_MS = 8000;

const NOT_JOINED = 'not in its consumer groups yet';

await describeWithOwnKafka('hookrail on Kafka', 3, (cluster) => {
  let trial: Trial | undefined;

  afterAll(() => trial?.abandon(), 30_000);

  it(`recovers by itself from outages of all brokers for ${OUTAGE_MS / 1000} s, of the registry and of the api`, {
    timeout: 600_000 + OUTAGE_MS,
  }, async () => {
    trial = await Trial.start({
      cluster: cluster(),
      chance: new Chance('outage'),
      routers: 1,
      senders: 1,
      answerMs: [1, 20],
      environment: { HOOKRAIL_RETRY_SCALE: `${RETRY_SCALE}` },
    });
    const { fleet } = trial;
    const watch = watchReadiness(fleet.processes);
    const publishing = publishSteadily(trial, PUBLISH_PAUSE_MS);
    try {
      await sleep(2 * REPEATS_MS);
      const brokersAway = await withoutBrokers(trial);

      // Leaders move back to where they were within seconds, and each move is a moment without an acknowledgement.
      const isQuiet = () =>
        watch.seen.every(({ at, status }) => status === 200 || at < Date.now() - QUIET_MS);
      await eventually('every process has been ready for a while', isQuiet, BACK_MS_MAX);

      const registryAwayAt = Date.now();
      await cluster().registry?.kill();
      await sleep(3000);
      const arrivedWithout = trial.exchanges.filter(({ at }) => at > registryAwayAt).length;
      await cluster().registry?.start();
      const registryBackAt = Date.now();

      await fleet.api.end('SIGKILL');
      await fleet.api.start();
      await fleet.api.untilReady();
      await sleep(3000);
      await publishing.stop();
      await trial.untilEnded(120_000);
      await watch.stop();

      const ids = trial.owed.map(({ id }) => id);
      const options = { retryScale: RETRY_SCALE };
      const verdict = judge(ids, trial.exchanges, [brokersAway], options);
      console.log(
        `outage: ${ids.length} deliveries, ${verdict.lost.length} lost, ${verdict.early.length} early, ` +
          `${verdict.repeats} duplicates, ready ${brokersAway.readyMs} ms after the brokers were back, sending after ` +
          `${brokersAway.sendingMs} ms, ${arrivedWithout} requests without the registry`,
      );
      expect(verdict.lost).toEqual([]);
      expect(verdict.early).toEqual([]);
      expect(verdict.unexplained).toEqual([]);
      // Nobody was restarted: the routers and senders are the processes that were started at first.
      expect(fleet.processes.map(({ failedStarts }) => failedStarts)).toEqual([0, 0, 0]);
      expect(arrivedWithout).toBeGreaterThan(0);

      const between = (from: number, to: number) => watch.seen.filter(({ at }) => at >= from && at <= to);
      const noticed = between(brokersAway.from + NOTICED_MS_MAX, brokersAway.backAt);
      expect(noticed.length).toBeGreaterThan(0);
      expect(noticed.filter(({ status }) => status !== 503)).toEqual([]);
      for (const { name } of fleet.processes) {
        const told = noticed.filter((one) => one.name === name).map(({ reasons }) => reasons.join());
        expect(told.at(-1)).toContain(NOT_JOINED);
      }
      // What is known goes on without the registry.
      const withoutRegistry = between(registryAwayAt, registryBackAt);
      expect(fleet.processes.flatMap(({ name }) => twiceUnready(withoutRegistry, name))).toEqual([]);
      await trial.stop();
    } finally {
      await publishing.stop().catch(() => {});
      await watch.stop();
    }
  });

  /** Ends all brokers for a while and starts them again; resolves when every process is ready. */
  async function withoutBrokers(trial: Trial) {
    const { nodes } = cluster();
    const from = Date.now();
    await Promise.all(nodes.map((node) => node.stop()));
    await sleep(OUTAGE_MS);
    const backAt = Date.now();
    await Promise.all(nodes.map((node) => node.start()));
    await untilHealed(cluster(), trial.topicPrefix);
    const healedAt = Date.now();
    await Promise.all(trial.fleet.processes.map((each) => each.untilReady()));
    const readyMs = Date.now() - healedAt;
    const before = trial.exchanges.length;
    await eventually('webhooks are sent again', () => trial.exchanges.length > before, BACK_MS_MAX);
    const sendingMs = Date.now() - healedAt;
    const published = trial.published;
    await eventually('events are acknowledged again', () => trial.published > published, BACK_MS_MAX);
    await untilSettled(cluster(), trial.topicPrefix, (topic) => trial.fleet.membersOf(topic));
    return { from, backAt, to: Date.now(), readyMs, sendingMs };
  }
});
