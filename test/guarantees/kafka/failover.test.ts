/**
 * Guarantee, on Kafka with two senders: the work of one that is killed moves to the other within the session time-out,
 * and nothing is lost; the work of one that is told to stop moves within two seconds, and nothing is sent twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Chance } from '../../../services/samples/chance.ts';
import { describeWithOwnKafka } from '../../support/kafka/suites.ts';
import { judge, REPEATS_MS } from '../../support/models/delivery-checker.ts';
import { arrivalDelays } from '../../support/trials/first-arrivals.ts';
import { Trial } from '../../support/trials/kafka-trial.ts';
import { publishSteadily } from '../../support/trials/publishing.ts';

const START_MS_MAX = 240_000;
const PUBLISH_PAUSE_MS = 200;
const RETRY_SCALE = 10_000;
/** What is asked for, milliseconds. */
const KILLED_MS_MAX = 35_000;
const STOPPED_MS_MAX = 2000;
/** Where even the calm is slow, the machine is: what shows then is that nobody waited for a session to end. */
const CALM_MS_MAX = 250;
const SESSION_MS = 10_000;
const BEFORE_MS = 2 * REPEATS_MS;
const AFTER_MS = 5000;

await describeWithOwnKafka('two senders on Kafka', 3, (cluster) => {
  let trial: Trial;

  beforeAll(async () => {
    trial = await Trial.start({
      cluster: cluster(),
      chance: new Chance('failover'),
      routers: 1,
      senders: 2,
      answerMs: [1, 5],
      // Twelve endpoints: it cannot be that one sender has them all.
      manners: ['good', 'good', 'good'],
      environment: { HOOKRAIL_RETRY_SCALE: `${RETRY_SCALE}` },
    });
  }, START_MS_MAX);

  afterAll(() => trial?.abandon(), START_MS_MAX);

  /** Lets events flow while `fault` happens and for a while after it, and waits until all are delivered. */
  async function underLoad(fault: () => Promise<void>): Promise<{ from: number; to: number }> {
    const publishing = publishSteadily(trial, PUBLISH_PAUSE_MS);
    await sleep(BEFORE_MS);
    const from = Date.now();
    await fault();
    const to = Date.now();
    await sleep(AFTER_MS);
    await publishing.stop();
    await trial.untilEnded(60_000);
    return { from, to };
  }

  it('hand the work of a killed one to the other within 35 s, and nothing is lost', {
    timeout: 120_000,
  }, async () => {
    const [sender] = trial.fleet.of('sender');
    const window = await underLoad(async () => {
      await sender?.end('SIGKILL');
    });
    const slowest = Math.max(...arrivalDelays(trial, window.from - REPEATS_MS, Number.POSITIVE_INFINITY));
    const ids = trial.owed.map(({ id }) => id);
    const options = { retryScale: RETRY_SCALE };
    const verdict = judge(ids, trial.exchanges, [window], options);
    console.log(
      `killed sender: ${ids.length} deliveries, slowest ${slowest} ms, ${verdict.repeats} duplicates`,
    );
    expect(verdict.lost).toEqual([]);
    expect(verdict.unexplained).toEqual([]);
    expect(slowest).toBeLessThan(KILLED_MS_MAX);
    // It had work at all: until it was taken for dead, some waited.
    expect(slowest).toBeGreaterThan(REPEATS_MS);
  });

  it('hand the work of a stopped one to the other within 2 s, and nothing is sent twice', {
    timeout: 120_000,
  }, async () => {
    const [sender] = trial.fleet.of('sender');
    await sender?.start();
    await sender?.untilReady();
    const earlier = trial.exchanges.length;
    let code: number | null | undefined;
    const { from, to } = await underLoad(async () => {
      code = await sender?.end('SIGTERM');
    });
    const slowest = Math.max(...arrivalDelays(trial, from - REPEATS_MS, to + AFTER_MS));
    const calm = Math.max(...arrivalDelays(trial, from - BEFORE_MS, from - REPEATS_MS));
    const since = trial.exchanges.slice(earlier);
    const sent = new Set(since.map(({ deliveryId, attempt }) => `${deliveryId}#${attempt}`));
    console.log(
      `stopped sender: exit ${code} after ${to - from} ms, ${since.length} requests, slowest ${slowest} ms ` +
        `(${calm} ms before), ${since.length - sent.size} duplicates`,
    );
    expect(code).toBe(0);
    expect(since.length - sent.size).toBe(0);
    expect(slowest).toBeLessThan(calm < CALM_MS_MAX ? STOPPED_MS_MAX : calm + SESSION_MS);
  });
});
