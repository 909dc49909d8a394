/**
 * Guarantee, on Kafka: a store moves from SQLite to PostgreSQL as docs/operate/tasks.md says, while producers publish and
 * receivers receive. Nothing acknowledged is lost, neither an event nor a change of an endpoint; deliveries never stop, and
 * the API is away only from the stop of the service to its start.
 */
import { afterAll, expect, it } from 'vitest';
import type { LocalPostgres } from '../../../scripts/local-postgres/server.ts';
import { eventually } from '../../support/eventually.ts';
import type { KafkaForTests } from '../../support/kafka/address.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { describeWithOwnPostgres } from '../../support/postgres/suites.ts';
import { runTool } from '../../support/service/operator-tool.ts';
import { expectEachOnce } from '../../support/trials/each-once.ts';
import { longestGap, untilDeliveriesGoOn } from '../../support/trials/first-arrivals.ts';
import { RETRY_SCALE, startKafkaProducerTrial } from '../../support/trials/kafka-producer-trial.ts';
import type { Trial } from '../../support/trials/kafka-trial.ts';
import { expectLogEqualsArrivals } from '../../support/trials/log-against-arrivals.ts';
import { ManagementWriter } from '../../support/trials/management-writer.ts';
import { publishSteadily } from '../../support/trials/publishing.ts';

const PUBLISH_PAUSE_MS = 100;
const TIMEOUT_MS = 400_000;
const ENDED_MS_MAX = 120_000;
const BACK_MS_MAX = 60_000;
/** Deliveries that arrive at each stage before the next begins. */
const ARRIVALS = 80;
const CHANGES = 10;
/** Only against hanging; the figure is printed. */
const GAP_MS_MAX = 15_000;

await describeWithKafka('hookrail on Kafka', (kafka) => {
  describeWithOwnPostgres('whose store moves to PostgreSQL', (postgres) => move(kafka, postgres));
});

function move(kafka: KafkaForTests, postgres: () => LocalPostgres): void {
  let started: Trial | undefined;
  afterAll(() => started?.abandon(), 60_000);

  it('keeps every acknowledged event and change, and delivers all the time', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const trial = await startKafkaProducerTrial('move to PostgreSQL', kafka);
    started = trial;
    const { fleet, merchant } = trial;
    const url = postgres().url();
    const { environment } = fleet;
    const copy = () => runTool(environment, 'store', 'copy', '--to', url);
    const writer = new ManagementWriter(merchant);
    const goOn = async (label: string) => {
      const { acknowledged } = writer;
      await Promise.all([
        untilDeliveriesGoOn(trial, ARRIVALS),
        eventually(`changes ${label}`, () => writer.acknowledged >= acknowledged + CHANGES, BACK_MS_MAX),
      ]);
    };
    const publishing = publishSteadily(trial, PUBLISH_PAUSE_MS);
    try {
      writer.start();
      const from = Date.now();
      await goOn('before the copy');
      expect(await copy()).toMatchObject({ code: 1, err: expect.stringContaining('is in use') });

      const stoppedAt = Date.now();
      expect(await fleet.api.end('SIGTERM')).toBe(0);
      const copied = await copy();
      expect(copied).toMatchObject({ code: 0, err: '' });
      const { acknowledged } = writer;
      await fleet.moveTo(url, { apis: 2, recorders: 2 });
      await eventually('a change is acknowledged', () => writer.acknowledged > acknowledged, BACK_MS_MAX);
      const awayMs = Date.now() - stoppedAt;
      await goOn('after the move');
      const until = Date.now();

      await publishing.stop();
      await writer.stop();
      await trial.untilEnded(ENDED_MS_MAX);
      // No sender was hit: nothing may be sent twice.
      expectEachOnce(trial, RETRY_SCALE);
      await expectLogEqualsArrivals(trial);
      await writer.expectKept();
      const gapMs = longestGap(trial, from, until);
      console.log(
        `moved to PostgreSQL: ${trial.owed.length} deliveries, ${writer.acknowledged} changes, ${writer.refused} refused; ` +
          `changes were not acknowledged for ${awayMs} ms (${/this took [\d.]+ s/.exec(copied.out)?.[0]}), ` +
          `the longest time without a first attempt was ${gapMs} ms`,
      );
      expect(gapMs).toBeLessThan(GAP_MS_MAX);
      await trial.stop();
    } finally {
      await publishing.stop().catch(() => {});
    }
  });
}
