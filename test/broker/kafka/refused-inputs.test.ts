/**
 * An input whose record the brokers refuse for good is put into the quarantine with the cause and acknowledged: its slot
 * is free again, and it does not come back after a restart.
 */
import kafkajs, { Kafka, logLevel } from 'kafkajs';
import { expect, it, onTestFinished } from 'vitest';
import type { ReceivedEvent } from '../../../services/broker/broker.ts';
import type { KafkaBroker } from '../../../services/broker/kafka/kafka-broker.ts';
import { type Clock, systemClock } from '../../../services/process/clock.ts';
import { eventually } from '../../support/eventually.ts';
import type { KafkaForTests } from '../../support/kafka/address.ts';
import { kafkaInstallation } from '../../support/kafka/installation.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { anEvent, routed, taskOf } from '../../support/records/broker-records.ts';

// A default import: this is no named export to Node's reading of the package.
const { ConfigResourceTypes } = kafkajs;

/** What is written by this clock is too old for a topic that takes only what is younger than half of it. */
const BEHIND_MS = 60_000;

function clockBehind(): Clock {
  const clock = systemClock();
  return {
    ...clock,
    now: () => clock.now() - BEHIND_MS,
    at: (at, callback) => clock.at(at + BEHIND_MS, callback),
  };
}

/**
 * Writes to each partition until its leader refuses with `error`: a new topic setting is accepted by the controller
 * first and reaches each broker in its own time.
 */
async function untilRefused({ brokers }: KafkaForTests, topic: string, error: string): Promise<void> {
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 0 } });
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  await Promise.all([admin.connect(), producer.connect()]);
  for (const { partition } of await admin.fetchTopicOffsets(topic)) {
    await eventually(`partition ${partition} of ${topic} refuses records with ${error}`, () =>
      producer
        .send({
          topic,
          messages: [{ partition, value: Buffer.alloc(300), timestamp: `${Date.now() - BEHIND_MS}` }],
        })
        .then(
          () => false,
          ({ type }: { type?: string }) => type === error,
        ),
    );
  }
  await Promise.all([admin.disconnect(), producer.disconnect()]);
}

await describeWithKafka('an input whose record is refused for good', (kafka) => {
  it.each([
    ['too_large', 'MESSAGE_TOO_LARGE', { 'max.message.bytes': '200' }],
    [
      'write_refused',
      'INVALID_TIMESTAMP',
      { 'message.timestamp.type': 'CreateTime', 'message.timestamp.before.max.ms': `${BEHIND_MS / 2}` },
    ],
  ])(
    'is stored as %s (%s) and acknowledged, and its slot is free again',
    async (reason, error, settings) => {
      const installation = await kafkaInstallation(kafka);
      let broker = await installation.open({ clock: clockBehind() });
      const admin = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
      await admin.connect();
      onTestFinished(async () => {
        await broker.abandon();
        await admin.disconnect();
        await installation.dispose();
      });
      const setTopic = (entries: object) =>
        admin.alterConfigs({
          validateOnly: false,
          resources: [
            {
              type: ConfigResourceTypes.TOPIC,
              name: `${installation.prefix}deliver`,
              configEntries: Object.entries(entries).map(([name, value]) => ({ name, value })),
            },
          ],
        });
      const handled: string[] = [];
      const consume = (by: KafkaBroker) =>
        by.events.consume(
          ({ decoded }: ReceivedEvent) => {
            if (!decoded.ok) throw new Error('these can be read');
            handled.push(decoded.event.eventId);
            return { kind: 'routed', tasks: [taskOf(decoded.event)], journal: routed(decoded.event) };
          },
          // One slot: an input that keeps it holds up all others.
          { inFlightMax: 1 },
        );
      await setTopic(settings);
      await untilRefused(kafka, `${installation.prefix}deliver`, error);
      const refused = [anEvent(), anEvent(), anEvent()];
      const ids = refused.map(({ eventId }) => eventId).sort();
      await broker.publishEvents(refused);
      await consume(broker);
      const stored = () => broker.quarantine.list({ limit: 9 });
      await eventually('all refused inputs are stored', async () => (await stored()).length === 3, 30_000);
      for (const { record } of await stored()) {
        expect(record).toMatchObject({ reason, detail: expect.stringContaining(error) });
      }
      expect((await stored()).map(({ record }) => record.eventId).sort()).toEqual(ids);
      expect([...handled].sort()).toEqual(ids);
      await setTopic({ 'message.timestamp.type': 'LogAppendTime' });
      await broker.close();
      broker = await installation.open();
      const good = anEvent();
      await broker.publishEvents([good]);
      const tasks: string[] = [];
      await broker.tasks.live.consume(
        ({ eventId }) => {
          tasks.push(eventId);
          return { kind: 'settled', journal: [] };
        },
        { inFlightMax: 1 },
      );
      await consume(broker);
      await eventually('the good input is handled', () => tasks.length > 0, 30_000);
      expect(tasks).toEqual([good.eventId]);
      expect(handled.slice(3)).toEqual([good.eventId]);
    },
    120_000,
  );
});
