/**
 * Guarantee: on Kafka an event id is routed once within the repeat window, through restarts and rebalances; the same id with
 * other content goes to quarantine; what an operator puts back from quarantine is routed. Without the comparison it is
 * routed again, and that is seen.
 */
import { type Admin, ConfigResourceTypes, Kafka, logLevel, type Producer } from 'kafkajs';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { KafkaBroker } from '../../../services/broker/kafka/kafka-broker.ts';
import type { RepeatWindow } from '../../../services/broker/kafka/seen/windows.ts';
import { Directory } from '../../../services/domain/directory.ts';
import { type DomainEvent, PUBLISHED_ON_KAFKA } from '../../../services/domain/event.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { startRouter } from '../../../services/router/router.ts';
import { eventually } from '../../support/eventually.ts';
import { type KafkaInstallation, kafkaInstallation } from '../../support/kafka/installation.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { anEvent, endpointChange, merchantChange } from '../../support/records/broker-records.ts';

const TEST_MS_MAX = 120_000;
const WAIT_MS_MAX = 60_000;
const HOUR_MS = 3_600_000;
const ENTITY = '22222222-2222-4222-8222-222222222222';

const planted = vi.hoisted(() => ({ forgetsWindow: false, takesAll: false }));

vi.mock(import('../../../services/broker/kafka/seen/repeated-events.ts'), async (importOriginal) => {
  const original = await importOriginal();
  class BuggySeenEvents extends original.RepeatedEvents {
    override assigned(...given: Parameters<InstanceType<typeof original.RepeatedEvents>['assigned']>): void {
      super.assigned(...given);
      const [partition] = given;
      if (planted.forgetsWindow) partition.next = partition.prefix;
    }

    override check(...given: Parameters<InstanceType<typeof original.RepeatedEvents>['check']>) {
      const verdict = super.check(...given);
      return planted.takesAll ? 'first' : verdict;
    }
  }
  return { ...original, RepeatedEvents: BuggySeenEvents };
});

await describeWithKafka('an event id that comes again', (kafka) => {
  let installation: KafkaInstallation;
  let producer: Producer;
  let admin: Admin;
  let directory: Directory;
  const open = new Set<KafkaBroker>();
  const routed: DomainEvent[] = [];
  const positions = new Map<string, number>();

  beforeEach(async () => {
    Object.assign(planted, { forgetsWindow: false, takesAll: false });
    routed.length = 0;
    positions.clear();
    directory = new Directory();
    directory.apply(merchantChange('merchant-1', 1));
    directory.apply(endpointChange('endpoint-1', 1));
    installation = await kafkaInstallation(kafka);
    const client = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING });
    producer = client.producer();
    admin = client.admin();
    await Promise.all([producer.connect(), admin.connect()]);
    // The platform's topic has the times that its producers give.
    const configEntries = [{ name: 'message.timestamp.type', value: 'CreateTime' }];
    const resource = { type: ConfigResourceTypes.TOPIC, name: eventsTopic(), configEntries };
    await admin.alterConfigs({ validateOnly: false, resources: [resource] });
  }, TEST_MS_MAX);

  afterEach(async () => {
    for (const broker of open) await installation.crash(broker);
    open.clear();
    await Promise.all([producer.disconnect(), admin.disconnect()]);
    await installation.dispose();
  }, TEST_MS_MAX);

  /** A process with a router; `recorder`: it also collects what was routed, from the journal. */
  async function process(isRecorder: boolean, repeats?: RepeatWindow) {
    const broker = await installation.open(repeats ? { repeats } : {});
    open.add(broker);
    if (isRecorder) {
      await broker.journal.consume(
        async ({ partition, first, last, positions: at, entries }) => {
          const known = positions.get(partition) ?? -1;
          for (const [index, entry] of [...entries].entries()) {
            const isNew = (at?.[index] ?? first + index) > known;
            if (!isNew || entry.kind !== 'routed') continue;
            routed.push({ ...entry.event, data: JSON.parse(entry.event.data) });
          }
          positions.set(partition, Math.max(known, last));
        },
        async (partition) => positions.get(partition),
        { batchMax: 100 },
      );
    }
    const registry = new Registry();
    const deps = {
      directory,
      acceptsSimulated: true,
      clock: systemClock(),
      log: pino({ level: 'silent' }),
      registry,
    };
    await startRouter({ ...deps, broker });
    const repeated = async () => {
      const values = (await registry.getSingleMetric('hookrail_events_total')?.get())?.values ?? [];
      return values.find(({ labels }) => labels.result === 'repeated')?.value ?? 0;
    };
    return { broker, repeated };
  }

  const eventsTopic = () => `${installation.prefix}events.in`;

  /** Writes records to partition 0, as a producer with a clock of its own. */
  async function write(events: readonly DomainEvent[], at: number, partition = 0): Promise<void> {
    const messages = events.map((event) => ({
      partition,
      value: installation.records.encodeEvent(event),
      timestamp: `${at}`,
    }));
    await producer.send({ topic: eventsTopic(), messages });
  }

  /** Writes one more event to a partition and waits until it is routed: all before it are by then. */
  async function settled(at = Date.now(), partition = 0): Promise<void> {
    const last = anEvent();
    await write([last], at, partition);
    await eventually('the last event is routed', () => times(last) === 1, WAIT_MS_MAX);
  }

  const times = ({ eventId }: DomainEvent) => routed.filter((event) => event.eventId === eventId).length;
  const some = (count: number) => Array.from({ length: count }, () => anEvent());

  async function end(broker: KafkaBroker, how: 'close' | 'abandon'): Promise<void> {
    open.delete(broker);
    await broker[how]();
  }

  it('is dropped at once, after 135 s with other events between, after a stop and after a kill', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const event = anEvent({ entityId: ENTITY });
    const begin = Date.now() - HOUR_MS / 2;
    const first = await process(true);
    await write([event, event], begin);
    for (let i = 0; i < 35; i += 1) await write(some(1), begin + i * 4000);
    await write([event], begin + 135_000);
    await settled(begin + 136_000);
    expect(times(event)).toBe(1);
    expect(await first.repeated()).toBe(2);
    await end(first.broker, 'close');
    const second = await process(true);
    await write([event], begin + 200_000);
    await settled(begin + 201_000);
    expect([times(event), await second.repeated()]).toEqual([1, 1]);
    await end(second.broker, 'abandon');
    const third = await process(true);
    await write([event], begin + 300_000);
    await settled(begin + 301_000);
    expect(times(event)).toBe(1);
    // What was not committed before the kill is read again.
    expect(await third.repeated()).toBeGreaterThan(0);
  });

  it('with other content goes to quarantine with its ids, also when it is put back under the same id', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const event = anEvent({ entityId: ENTITY });
    const other = { ...event, occurredAt: event.occurredAt + 1 };
    const now = Date.now() - 60_000;
    const first = await process(true);
    await write([event, other], now);
    await settled(now + 1000);
    const records = () => first.broker.quarantine.list({ limit: 10 });
    const [stored] = await eventually('the conflict is in quarantine', async () => {
      const list = await records();
      return list.length > 0 ? list : undefined;
    });
    expect(stored?.record).toMatchObject({
      reason: 'event_id_conflict',
      eventId: event.eventId,
      merchantId: 'merchant-1',
    });
    expect(routed.filter(({ eventId }) => eventId === event.eventId)).toEqual([
      { ...event, publishedBy: PUBLISHED_ON_KAFKA, sequence: expect.any(Number) },
    ]);
    await first.broker.quarantine.requeue([stored?.position ?? '']);
    const isBack = async () => (await records()).some(({ position }) => position !== stored?.position);
    await eventually('the event that was put back is in quarantine again', isBack, WAIT_MS_MAX);
    expect(times(event)).toBe(1);
  });

  it('of an unknown merchant is routed when an operator puts it back, also after a restart', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const event = anEvent({ merchantId: 'merchant-2' });
    const first = await process(true);
    await write([event, event], Date.now());
    await settled();
    await end(first.broker, 'close');
    directory.apply(merchantChange('merchant-2', 1));
    const second = await process(true);
    const list = await second.broker.quarantine.list({ limit: 10 });
    expect(list.map(({ record }) => record.reason)).toEqual(['unknown_merchant']);
    await second.broker.quarantine.requeue(list.map(({ position }) => position));
    await eventually('the event that was put back is routed', () => times(event) === 1, WAIT_MS_MAX);
    await write([event], Date.now());
    await settled();
    expect(times(event)).toBe(1);
  });

  it('that was routed and not committed is routed again under the same delivery ids, its repeats are not', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const event = anEvent({ entityId: ENTITY });
    const first = await process(true);
    await write([event, ...some(5), event], Date.now());
    await settled();
    await end(first.broker, 'abandon');
    const topic = eventsTopic();
    const isTakenBack = () =>
      admin.resetOffsets({ groupId: topic, topic, earliest: true }).then(
        () => true,
        () => false,
      );
    await eventually('the commit is taken back', isTakenBack, WAIT_MS_MAX);
    await process(true);
    await eventually('the event is routed again', () => times(event) === 2, WAIT_MS_MAX);
    await settled();
    expect(times(event)).toBe(2);
  });

  it('is recognised by the process that takes a partition over', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const events = some(30);
    const first = await process(true);
    for (const partition of [0, 1, 2]) {
      await write(events.slice(partition * 10, partition * 10 + 10), Date.now(), partition);
      await settled(Date.now(), partition);
    }
    const second = await process(false);
    const hasJoined = async () => {
      const { groups } = await admin.describeGroups([eventsTopic()]);
      return groups[0]?.members.length === 2 && groups[0].state === 'Stable';
    };
    await eventually('the second process has joined', hasJoined, WAIT_MS_MAX);
    for (const partition of [0, 1, 2]) {
      await write(events.slice(partition * 10, partition * 10 + 10), Date.now(), partition);
      await settled(Date.now(), partition);
    }
    expect(events.map(times)).toEqual(events.map(() => 1));
    expect(await first.repeated()).toBeGreaterThan(0);
    expect(await second.repeated()).toBeGreaterThan(0);
  });

  it('is routed again beyond the repeat window, in time or in number', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const event = anEvent({ entityId: ENTITY });
    const begin = Date.now() - 2 * HOUR_MS;
    await process(true, { windowMs: 300_000, idsMax: 1000 });
    await write([event], begin);
    for (let i = 1; i <= 10; i += 1) await write(some(1), begin + i * 40_000);
    await write([event], begin + 401_000);
    await settled(begin + 402_000);
    expect(times(event)).toBe(2);
    await write([event, ...some(1500), event], begin + 403_000);
    await settled(begin + 404_000);
    expect(times(event)).toBe(3);
  });

  it('is routed again with a planted lack of the comparison, and that is found', {
    timeout: TEST_MS_MAX,
  }, async () => {
    planted.takesAll = true;
    const event = anEvent({ entityId: ENTITY });
    await process(true);
    await write([event, event], Date.now());
    await settled();
    expect(times(event)).toBe(2);
  });

  it('is routed again after a restart with a planted lack of reading the window back, and that is found', {
    timeout: TEST_MS_MAX,
  }, async () => {
    planted.forgetsWindow = true;
    const event = anEvent({ entityId: ENTITY });
    const first = await process(true);
    await write([event], Date.now());
    await settled();
    await end(first.broker, 'close');
    await process(true);
    await write([event], Date.now());
    await settled();
    expect(times(event)).toBe(2);
  });
});
