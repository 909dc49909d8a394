/**
 * A crash between a follow-up and the acknowledgement of its cause makes the follow-up twice, and the second copy may
 * come after an outage longer than the window. It is dropped all the same, since an outage appends nothing and the
 * window is measured in the log's own time; measured by the wall clock the copy would be sent, and that is found.
 */
import { type Admin, ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Broker } from '../../../../services/broker/broker.ts';
import { type Clock, systemClock } from '../../../../services/process/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { type KafkaInstallation, kafkaInstallation } from '../../../support/kafka/installation.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { type Exchange, judge, type Verdict } from '../../../support/models/delivery-checker.ts';
import { aTask } from '../../../support/records/broker-records.ts';

const OUTAGE_MS = 2 * 3_600_000;
const TRIAL_MS_MAX = 120_000;
/** Joining, after the other's session has ended in good order. */
const JOINED_MS_MAX = 40_000;
/** For what wrongly comes to come. */
const TURN_MS = 2000;

const planted = vi.hoisted(() => ({ measuresByTheWallClock: false }));

vi.mock(import('../../../../services/broker/kafka/seen/seen-tasks.ts'), async (importOriginal) => {
  const original = await importOriginal();
  class WallClockSeenTasks extends original.SeenTasks {
    readonly #milliseconds: number;
    readonly #appended = new Map<string, number>();

    constructor(...given: ConstructorParameters<typeof original.SeenTasks>) {
      super(...given);
      const [windowMs] = given;
      this.#milliseconds = windowMs;
    }

    override isCopy(key: string, offset: number, appendedAt: number): boolean {
      if (!planted.measuresByTheWallClock) return super.isCopy(key, offset, appendedAt);
      const before = this.#appended.get(key) ?? 0;
      this.#appended.set(key, appendedAt);
      return before >= Date.now() - this.#milliseconds;
    }
  }
  return { ...original, SeenTasks: WallClockSeenTasks };
});

await describeWithKafka('the memory of seen tasks after a crash and an outage', (kafka) => {
  async function verdictAfterOutage(measuresByTheWallClock: boolean): Promise<Verdict> {
    planted.measuresByTheWallClock = measuresByTheWallClock;
    const installation = await kafkaInstallation(kafka);
    onTestFinished(() => installation.dispose());
    const admin = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    onTestFinished(() => admin.disconnect());
    await keepTimesAsProduced(admin, `${installation.prefix}retry.3s`);

    const task = aTask();
    const exchanges: Exchange[] = [];
    const from = Date.now();
    const first = await installation.open({ clock: twoHoursAgo() });
    // It dies before it makes the second attempt: that is the other engine's.
    await attempt(first, exchanges, Date.now(), 1);
    await first.publishTasks([{ task, journal: [] }]);
    await crashAfterFollowUp(installation, first, admin);
    const to = Date.now();

    const second = await installation.open();
    await attempt(second, exchanges, 0);
    const again = () => exchanges.filter((one) => one.attempt === 1).length;
    await eventually('the first attempt is made again', () => again() === 2, JOINED_MS_MAX);
    const isDone = () => exchanges.some((one) => one.attempt === 2) && second.status().backlog.delayed === 0;
    await eventually('the second attempt is made', isDone, JOINED_MS_MAX);
    await installation.clock.sleep(TURN_MS);
    await installation.crash(second);
    return judge([task.deliveryId], exchanges, [{ from, to }], {
      retryScale: installation.retryScale,
      repeatsMs: 0,
    });
  }

  it('lets a copy be sent with a planted window by the wall clock, and the copy is found', {
    timeout: TRIAL_MS_MAX,
  }, async () => {
    const { lost, unexplained } = await verdictAfterOutage(true);
    expect(lost).toEqual([]);
    expect(unexplained).toEqual([expect.stringContaining('#2 again')]);
  });

  it('lets no copy be sent without the bug', { timeout: TRIAL_MS_MAX }, async () => {
    const { lost, unexplained, repeats } = await verdictAfterOutage(false);
    expect(lost).toEqual([]);
    expect(unexplained).toEqual([]);
    // The crash itself: the first attempt was made again.
    expect(repeats).toBe(1);
  });
});

/** Makes first attempts that fail, with a second to come, and second ones that succeed; none above `attemptsMade`. */
async function attempt(
  broker: Broker,
  exchanges: Exchange[],
  nextDueAt: number,
  attemptsMade = 2,
): Promise<void> {
  await broker.tasks.live.consume(
    (task) => {
      if (task.attempt > attemptsMade) return new Promise<never>(() => {});
      const at = Date.now();
      const status = task.attempt === 1 ? 500 : 200;
      exchanges.push({ deliveryId: task.deliveryId, attempt: task.attempt, at, answeredAt: at, status });
      const next = { ...task, attempt: 2, dueAt: nextDueAt };
      return { kind: 'settled', journal: [], ...(task.attempt === 1 ? { next } : {}) };
    },
    { inFlightMax: 10 },
  );
}

/** As kill -9 after the follow-up is durable and before its cause is committed. */
async function crashAfterFollowUp(
  installation: KafkaInstallation,
  broker: Broker,
  admin: Admin,
): Promise<void> {
  const isDurable = async () => {
    const ends = await admin.fetchTopicOffsets(`${installation.prefix}retry.3s`);
    return ends.some(({ high }) => Number(high) > 0);
  };
  await eventually('the follow-up is durable', isDurable, JOINED_MS_MAX);
  await installation.crash(broker);
  // What may have been committed in the meantime was not.
  const topic = `${installation.prefix}deliver`;
  const isTakenBack = () =>
    admin.resetOffsets({ groupId: topic, topic, earliest: true }).then(
      () => true,
      () => false,
    );
  await eventually('the commit is taken back', isTakenBack, JOINED_MS_MAX);
}

/** The times that its producers give: so an engine whose clock is behind stands for one that ran before. */
async function keepTimesAsProduced(admin: Admin, topic: string): Promise<void> {
  const configEntries = [{ name: 'message.timestamp.type', value: 'CreateTime' }];
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic, configEntries };
  await admin.alterConfigs({ validateOnly: false, resources: [resource] });
}

function twoHoursAgo(): Clock {
  const clock = systemClock();
  return {
    now: () => clock.now() - OUTAGE_MS,
    wall: (at) => clock.wall(at),
    system: (wall) => clock.system(wall),
    idleMs: () => clock.idleMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    at: (at, callback) => clock.at(at + OUTAGE_MS, callback),
  };
}
