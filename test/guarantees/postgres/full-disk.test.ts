/**
 * Guarantee, on Kafka and PostgreSQL with two apis and two recorders: while PostgreSQL's disk is full, deliveries go on, the
 * log of each process says so in few lines, and no acknowledged change is lost. Once there is room, the delivery log
 * catches up by itself.
 */
import { afterAll, expect, it } from 'vitest';
import type { LocalPostgres } from '../../../scripts/local-postgres/server.ts';
import { eventually } from '../../support/eventually.ts';
import { createSmallDatabase, NO_SMALL_DISK, SmallDisk } from '../../support/faults/small-disk.ts';
import type { KafkaForTests } from '../../support/kafka/address.ts';
import type { FleetProcess } from '../../support/kafka/fleet.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { describeWithOwnPostgres } from '../../support/postgres/suites.ts';
import { expectEachOnce } from '../../support/trials/each-once.ts';
import { untilDeliveriesGoOn } from '../../support/trials/first-arrivals.ts';
import { RETRY_SCALE, startKafkaProducerTrial } from '../../support/trials/kafka-producer-trial.ts';
import type { Trial } from '../../support/trials/kafka-trial.ts';
import { expectLogEqualsArrivals } from '../../support/trials/log-against-arrivals.ts';
import { ManagementWriter } from '../../support/trials/management-writer.ts';
import { publishSteadily } from '../../support/trials/publishing.ts';

const SIZE_MB = 200;
const LEFT_MB = 1;
const PUBLISH_PAUSE_MS = 100;
const TIMEOUT_MS = 400_000;
const FULL_MS_MAX = 120_000;
const BACK_MS_MAX = 60_000;
const ENDED_MS_MAX = 120_000;
/** Deliveries that arrive while the disk is full. */
const ARRIVALS = 100;
const REFUSALS = 5;
/** A line a minute. */
const LINES_MAX = 3;

await describeWithKafka('hookrail on Kafka', (kafka) => {
  describeWithOwnPostgres('whose PostgreSQL has a full disk', (postgres) => fullDisk(kafka, postgres));
});

function fullDisk(kafka: KafkaForTests, postgres: () => LocalPostgres): void {
  let trial: Trial | undefined;
  const disk = new SmallDisk(SIZE_MB);
  afterAll(async () => {
    await trial?.abandon();
    await postgres().stop();
    disk.dispose();
  }, 60_000);

  it('goes on delivering, refuses changes, and records everything once there is room', {
    timeout: TIMEOUT_MS,
  }, async ({ skip }) => {
    if (!disk.isMounted) return skip(NO_SMALL_DISK);
    const database = await createSmallDatabase(postgres(), disk);
    trial = await startKafkaProducerTrial('full disk of PostgreSQL', kafka, {
      url: postgres().url(database),
      apis: 2,
      recorders: 2,
    });
    const { fleet, merchant } = trial;
    const recorders = fleet.of('recorder');
    const writer = new ManagementWriter(merchant);
    const publishing = publishSteadily(trial, PUBLISH_PAUSE_MS);
    try {
      writer.start();
      await eventually('changes are acknowledged', () => writer.acknowledged >= REFUSALS);
      const makeRoom = disk.crowd(LEFT_MB);
      const isTold = () => recorders.every((recorder) => linesOf(recorder).length > 0);
      await eventually('each recorder says that the disk is full', isTold, FULL_MS_MAX);
      const { refused } = writer;
      await eventually('changes are refused', () => writer.refused >= refused + REFUSALS, FULL_MS_MAX);
      await untilDeliveriesGoOn(trial, ARRIVALS);
      expect((await merchant.request('GET', '/merchant/webhook-endpoints')).status).toBe(200);

      makeRoom();
      const roomAt = Date.now();
      const { acknowledged } = writer;
      const isAcknowledged = () => writer.acknowledged > acknowledged;
      await eventually('changes are acknowledged again', isAcknowledged, BACK_MS_MAX);
      const changedMs = Date.now() - roomAt;
      await publishing.stop();
      await writer.stop();
      await trial.untilEnded(ENDED_MS_MAX);
      expectEachOnce(trial, RETRY_SCALE);
      await expectLogEqualsArrivals(trial);
      await writer.expectKept();
      console.log(
        `full disk of PostgreSQL: ${trial.owed.length} deliveries, ${writer.acknowledged} changes, ${writer.refused} refused; ` +
          `a change was acknowledged ${changedMs} ms after there was room`,
      );
      for (const each of [...fleet.of('api'), ...recorders])
        expect(linesOf(each).length, each.name).toBeLessThanOrEqual(LINES_MAX);
      await trial.stop();
    } finally {
      await publishing.stop().catch(() => {});
    }
  });
}

/** The lines with which a process says that the disk is full. */
function linesOf({ output }: FleetProcess): readonly string[] {
  return output.filter((line) => line.includes('"store_disk_full"'));
}
