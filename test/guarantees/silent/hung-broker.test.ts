/**
 * Guarantee: a broker that hangs (SIGSTOP), unlike one that is killed, keeps its connections and answers nothing. The
 * deliveries go on without it, nothing is lost or sent early, and nothing is sent again that was settled before it hung;
 * the same when it goes on. The long form: `npm run hung-broker`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import type { LocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import { Chance } from '../../../services/samples/chance.ts';
import { untilHealed } from '../../support/kafka/cluster-state.ts';
import { describeWithOwnKafka } from '../../support/kafka/suites.ts';
import { sizeOf } from '../../support/long-runs.ts';
import { judge, type RepeatWindow } from '../../support/models/delivery-checker.ts';
import { arrivalDelays, longestGap } from '../../support/trials/first-arrivals.ts';
import { Trial } from '../../support/trials/kafka-trial.ts';
import { publishAtPace } from '../../support/trials/publishing.ts';

const HANG_MS = sizeOf('HUNG_BROKER_SECONDS') * 1000;
/** How many of the three brokers hang, one after the other. Among three are the leaders and the coordinators of all. */
const NODES = sizeOf('HUNG_BROKER_NODES');
/** Ten events: sixty events a second. */
const BATCH_EVERY_MS = 167;
const BEFORE_MS = 12_000;
const AFTER_MS = 10_000;
const RETRY_SCALE = 10_000;
/** Without deliveries during a hang, milliseconds: the brokers themselves take 9 s to give its partitions to others. */
const SILENCE_MS_MAX = 20_000;
const TIMEOUT_MS = 300_000 + NODES * (HANG_MS + 120_000);

await describeWithOwnKafka('hookrail on a Kafka of three brokers', 3, (cluster) => {
  let trial: Trial | undefined;

  afterAll(() => trial?.abandon(), 30_000);

  /** Hangs a broker; returns when it hung, and until when its effects lasted. */
  async function hang(node: LocalKafka['nodes'][number], running: Trial): Promise<RepeatWindow> {
    const from = Date.now();
    node.pause();
    await sleep(HANG_MS);
    const resumedAt = Date.now();
    node.resume();
    await sleep(AFTER_MS);
    await untilHealed(cluster(), running.topicPrefix);
    const silence = longestGap(running, from, resumedAt);
    const after = longestGap(running, resumedAt, resumedAt + AFTER_MS);
    console.log(
      `broker ${node.id} hung for ${HANG_MS / 1000} s: longest silence ${silence} ms, ${after} ms after it went on`,
    );
    expect(silence).toBeLessThan(Math.min(SILENCE_MS_MAX, HANG_MS));
    expect(after).toBeLessThan(SILENCE_MS_MAX);
    return { from, to: Date.now() };
  }

  it(`delivers on while ${NODES} of its brokers hang, one after the other`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    trial = await Trial.start({
      cluster: cluster(),
      chance: new Chance('hung broker'),
      routers: 2,
      senders: 2,
      answerMs: [1, 5],
      manners: ['good', 'moody'],
      environment: { HOOKRAIL_RETRY_SCALE: `${RETRY_SCALE}` },
    });
    const running = trial;
    const publishing = publishAtPace(running, BATCH_EVERY_MS);
    const windows: RepeatWindow[] = [];
    for (const node of cluster().nodes.slice(0, NODES)) {
      await sleep(BEFORE_MS);
      windows.push(await hang(node, running));
    }
    await publishing.stop();
    await running.untilEnded(180_000);
    for (const { from, to } of windows) {
      const delays = arrivalDelays(running, from, to).sort((one, other) => one - other);
      const median = delays[Math.floor(delays.length / 2)];
      console.log(`from the acknowledgement to the first attempt ${median} ms, at most ${delays.at(-1)} ms`);
    }
    const owed = running.owed.map(({ id }) => id);
    const dead = new Set(await running.deadLetters());
    const options = { retryScale: RETRY_SCALE, dead };
    const verdict = judge(owed, running.exchanges, windows, options);
    console.log(
      `${running.published} events, ${owed.length} deliveries, ${verdict.requests} requests: ${verdict.lost.length} lost, ` +
        `${verdict.early.length} early, ${verdict.repeats} repeated, ${verdict.unexplained.length} of them settled before, ` +
        `the latest ${verdict.latestRepeatMs} ms after its attempt`,
    );
    expect(verdict.lost).toEqual([]);
    expect(verdict.early).toEqual([]);
    expect(verdict.strange).toEqual([]);
    expect(verdict.unexplained).toEqual([]);
  });
});
