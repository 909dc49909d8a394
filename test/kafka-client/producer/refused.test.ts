/** A record that the brokers refuse for its content is rejected alone: its neighbours in the request are written. */
import { Kafka, logLevel } from 'kafkajs';
import { expect, it, onTestFinished } from 'vitest';
import { brokersOf } from '../../../services/kafka-client/client/kafkajs-brokers.ts';
import { KafkaProducer } from '../../../services/kafka-client/producer/producer.ts';
import { RecordRefused } from '../../../services/kafka-client/producer/record-sender.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { createTopics } from '../../support/kafka/created-topics.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';

await describeWithKafka('a topic with a limit for its records', ({ brokers }) => {
  /** Returns a producer to a topic of one partition, and the number of its requests that were acknowledged. */
  async function writing(settings: Record<string, string>) {
    const clock = systemClock();
    const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.connect();
    const topic = `${freshPrefix()}small`;
    const all = { ...settings, 'message.timestamp.type': 'LogAppendTime' };
    const configEntries = Object.entries(all).map(([name, value]) => ({ name, value }));
    await createTopics(admin, [{ topic, numPartitions: 1, configEntries }]);
    const partitions = new Map([[topic, 1]]);
    const cluster = () => brokersOf(kafka, clock);
    let requests = 0;
    const appended = () => {
      requests += 1;
    };
    const log = createLogger('silent');
    const producer = new KafkaProducer({ cluster, clock, log, partitions, appended });
    onTestFinished(async () => {
      await producer.abandon();
      await admin.deleteTopics({ topics: [topic] });
      await admin.disconnect();
    });
    const offsets = () => admin.fetchTopicOffsets(topic).catch(() => []);
    await eventually('the topic has a leader', async () => (await offsets()).length === 1);
    await producer.open();
    const send = (bytes: number, headers = {}) =>
      producer.send({ topic, partition: 0, key: null, value: Buffer.alloc(bytes, bytes % 7), headers }).then(
        ({ offset }) => offset,
        (error: unknown) => error,
      );
    return { topic, producer, send, requests: () => requests };
  }

  it('refuses the one record that is larger, and takes those before and after it', async () => {
    const { topic, producer, send } = await writing({ 'max.message.bytes': '20000' });
    const sent = await Promise.all([send(10), send(20), send(50_000), send(30), send(12_000), send(13_000)]);
    expect(sent).toEqual([0, 1, expect.any(RecordRefused), 2, 3, 4]);
    expect(String(sent[2])).toContain(
      `a record of 50000 bytes for ${topic}/0 permanently (MESSAGE_TOO_LARGE`,
    );
    expect(await send(40)).toBe(5);
    expect([producer.isReachable, producer.troubles]).toEqual([true, []]);
  }, 60_000);

  it.each([0, 700, 1999])(
    'refuses the larger one of 2,000 in few requests, wherever it is: %i',
    async (at) => {
      const { send, requests } = await writing({ 'max.message.bytes': '200000' });
      const sent = await Promise.all(Array.from({ length: 2000 }, (_, i) => send(i === at ? 250_000 : 20)));
      expect(sent.filter((one) => one instanceof RecordRefused)).toHaveLength(1);
      expect(sent[at]).toBeInstanceOf(RecordRefused);
      expect(sent.filter((one) => typeof one === 'number')).toEqual([...Array(1999).keys()]);
      expect(requests()).toBeLessThan(40);
    },
    60_000,
  );

  it('gets no request above its limit, headers included', async () => {
    const { send, requests } = await writing({});
    const headers = { 'hookrail-published-by': 'x'.repeat(36), several: ['y'.repeat(100), 'z'.repeat(100)] };
    const sent = await Promise.all(Array.from({ length: 6000 }, () => send(400, headers)));
    expect(sent).toEqual([...Array(6000).keys()]);
    expect(requests()).toBeLessThan(20);
    const large = await send(10, { large: 'x'.repeat(4_000_000) });
    expect(String(large)).toMatch(/a record of 40\d{5} bytes is too large for/);
  }, 60_000);
});
