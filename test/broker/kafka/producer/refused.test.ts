/** A record that the brokers refuse for its content is rejected alone: its neighbours in the request are written. */
import { Kafka, logLevel } from 'kafkajs';
import { expect, it, onTestFinished } from 'vitest';
import { brokersOf } from '../../../../services/broker/kafka/client/kafkajs-brokers.ts';
import { KafkaProducer } from '../../../../services/broker/kafka/producer/producer.ts';
import { RecordRefused } from '../../../../services/broker/kafka/producer/record-sender.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWithKafka, freshPrefix } from '../../../support/kafka/suites.ts';

await describeWithKafka('a topic that takes 20,000 bytes', ({ brokers }) => {
  it('refuses the one record that is larger, and takes those before and after it', async () => {
    const clock = systemClock();
    const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.connect();
    const topic = `${freshPrefix()}small`;
    const configEntries = [{ name: 'max.message.bytes', value: '20000' }];
    await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }] });
    const partitions = new Map([[topic, 1]]);
    const cluster = () => brokersOf(kafka, clock);
    const producer = new KafkaProducer({ cluster, clock, log: createLogger('silent'), partitions });
    onTestFinished(async () => {
      await producer.abandon();
      await admin.deleteTopics({ topics: [topic] });
      await admin.disconnect();
    });
    await eventually('the topic exists', async () => (await admin.fetchTopicOffsets(topic)).length === 1);
    await producer.open();
    const send = (bytes: number) =>
      producer.send({ topic, partition: 0, key: null, value: Buffer.alloc(bytes, bytes % 7) }).then(
        ({ offset }) => offset,
        (error: unknown) => error,
      );
    const sent = await Promise.all([send(10), send(20), send(50_000), send(30), send(12_000), send(13_000)]);
    expect(sent).toEqual([0, 1, expect.any(RecordRefused), 2, 3, 4]);
    expect(String(sent[2])).toContain(
      `a record of 50000 bytes for ${topic}/0 permanently (MESSAGE_TOO_LARGE`,
    );
    expect(await send(40)).toBe(5);
    expect([producer.isReachable, producer.troubles]).toEqual([true, []]);
  }, 60_000);
});
