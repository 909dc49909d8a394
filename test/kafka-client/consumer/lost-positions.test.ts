/**
 * Guarantee: a topic that was created again is read from its beginning, and records that retention deleted unread are
 * reported.
 */
import { Kafka, logLevel } from 'kafkajs';
import { expect, it, onTestFinished } from 'vitest';
import { Admins } from '../../../services/kafka-client/client/admins.ts';
import { kafkaClient } from '../../../services/kafka-client/client/client.ts';
import { TopicIds } from '../../../services/kafka-client/client/topic-ids.ts';
import type { ReadRecord } from '../../../services/kafka-client/consumer/partition.ts';
import { TopicConsumer } from '../../../services/kafka-client/consumer/topic-consumer.ts';
import type { TopicConsumerOptions } from '../../../services/kafka-client/consumer/topic-consumer-options.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';

const WITHIN_MS = 30_000;
/** Until another log is certain: when its id is verified, and how long it must be returned. */
const CERTAIN_MS = 60_000;

await describeWithKafka('a reader whose position', ({ brokers }) => {
  async function aTopic() {
    const topic = `${freshPrefix()}read`;
    const lines: { readonly level: number; readonly msg: string; readonly [field: string]: unknown }[] = [];
    const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) });
    const clock = systemClock();
    const kafka = kafkaClient({ brokers, clientId: 'reader', tls: null, sasl: null, log });
    const admins = new Admins(kafka, clock, log);
    const ids = new TopicIds(kafka, clock, [topic]);
    const foreign = new Kafka({ brokers, clientId: 'foreign', logLevel: logLevel.NOTHING });
    const admin = foreign.admin();
    await admin.connect();
    const producer = foreign.producer();
    await producer.connect();
    const create = async () => {
      await eventually(
        'the topic is created',
        () =>
          admin
            .createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false })
            .catch(() => false),
        WITHIN_MS,
      );
      const offsets = () => admin.fetchTopicOffsets(topic).catch(() => []);
      await eventually('the topic has a leader', async () => (await offsets()).length > 0, WITHIN_MS);
    };
    const send = async (...values: string[]) => {
      const messages = values.map((value) => ({ value, partition: 0 }));
      await producer.send({ topic, messages });
    };
    const seen: string[] = [];
    const consumers: TopicConsumer[] = [];
    const read = async (
      over: Partial<Pick<TopicConsumerOptions, 'heldMax' | 'take' | 'outOfRange'>> = {},
    ) => {
      const consumer: TopicConsumer = new TopicConsumer({
        kafka,
        admins,
        clock,
        log,
        topic,
        groupId: topic,
        maxWaitMs: 100,
        heldMax: 100,
        heldBytesMax: 1024 * 1024,
        topicId: () => ids.idOf(topic),
        unreadable: () => {},
        take: (record) => {
          seen.push(String(record.value));
          consumer.done(record);
        },
        ...over,
      });
      consumers.push(consumer);
      await consumer.start();
      return consumer;
    };
    onTestFinished(async () => {
      await Promise.all(consumers.map((consumer) => consumer.abandon()));
      await admin.deleteTopics({ topics: [topic] }).catch(() => {});
      await Promise.all([admin.disconnect(), producer.disconnect(), admins.close(), ids.close()]);
    });
    await create();
    const errors = () => lines.filter(({ level }) => level === 50);
    return { topic, admin, create, send, read, seen, errors };
  }

  it('is in a topic that was deleted and created again reads all of the new one, however long it is', async () => {
    const { topic, admin, create, send, read, seen, errors } = await aTopic();
    await send('old 0', 'old 1', 'old 2');
    await read();
    await eventually('the old records are read', () => seen.length === 3, WITHIN_MS);
    await admin.deleteTopics({ topics: [topic] });
    await create();
    const values = Array.from({ length: 20 }, (_, index) => `new ${index}`);
    await send(...values);
    await eventually(
      'the new records are read',
      () => values.every((value) => seen.includes(value)),
      CERTAIN_MS,
    );
    expect(errors().map(({ msg }) => msg)).toContainEqual(
      expect.stringContaining('reading it from its beginning'),
    );
  }, 120_000);

  it('is beyond the end of the log reads the log from its beginning', async () => {
    const { topic, admin, create, send, read, seen } = await aTopic();
    await send('old 0', 'old 1', 'old 2');
    await read();
    await eventually('the old records are read', () => seen.length === 3, WITHIN_MS);
    await admin.deleteTopics({ topics: [topic] });
    await create();
    await send('new 0');
    await eventually('the new record is read', () => seen.includes('new 0'), CERTAIN_MS);
  }, 120_000);

  it('was deleted by retention during a stop reports the lost records until they are acknowledged', async () => {
    const { topic, admin, send, read, seen, errors } = await aTopic();
    await send('0', '1');
    const first = await read();
    await eventually('the first records are read', () => seen.length === 2, WITHIN_MS);
    await first.stop(5000);
    await send('lost 2', 'lost 3', 'lost 4', '5');
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '5' }] });
    const second = await read();
    await eventually('the records that are left are read', () => seen.includes('5'), WITHIN_MS);
    expect(seen.filter((value) => value.startsWith('lost'))).toEqual([]);
    const lostIn = (consumer: TopicConsumer) => [...consumer.partitions].map(({ lost }) => lost);
    expect(lostIn(second)).toEqual([{ from: 2, to: 5, count: 3 }]);
    expect(errors().map(({ partition, from, to }) => [partition, from, to])).toEqual([[0, 2, 5]]);
    await second.stop(5000);
    const third = await read();
    await eventually(
      'the position is known',
      () => [...third.partitions].some(({ next }) => next !== null),
      WITHIN_MS,
    );
    expect(lostIn(third)).toEqual([{ from: 2, to: 5, count: 3 }]);
    expect(errors()).toHaveLength(1);
    for (const partition of third.partitions) partition.acknowledgeLost(5);
    await send('6');
    await eventually('the next record is read', () => seen.includes('6'), WITHIN_MS);
    await third.stop(5000);
    const fourth = await read();
    await eventually(
      'the position is known',
      () => [...fourth.partitions].some(({ next }) => next !== null),
      WITHIN_MS,
    );
    expect(lostIn(fourth)).toEqual([null]);
  }, 120_000);

  it('goes out of range during reading commits only what is done', async () => {
    const { topic, admin, send, read, seen, errors } = await aTopic();
    const held: ReadRecord[] = [];
    const outOfRange: number[] = [];
    const reader = await read({
      heldMax: 2,
      outOfRange: (partition) => void outOfRange.push(partition),
      take: (record) => {
        seen.push(String(record.value));
        held.push(record);
      },
    });
    const committed = async () => {
      const [answer] = await admin.fetchOffsets({ groupId: topic, topics: [topic] });
      return Number(answer?.partitions[0]?.offset);
    };
    const finish = () => {
      for (const record of held.splice(0)) reader.done(record);
    };
    await send('0');
    await eventually('the first record is read', () => seen.length === 1, WITHIN_MS);
    finish();
    await eventually('the first record is committed', async () => (await committed()) === 1, WITHIN_MS);

    // Two are held, so that nothing more is read until they are done.
    await send('1', '2');
    await eventually('two records are held', () => held.length === 2, WITHIN_MS);
    await send('lost 3', 'lost 4', 'lost 5', '6');
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '6' }] });
    finish();
    const positions = new Set<number>();
    await eventually(
      'the records that are left are read',
      async () => {
        positions.add(await committed());
        return seen.includes('6');
      },
      WITHIN_MS,
    );
    for (let times = 0; times < 10; times += 1) {
      positions.add(await committed());
      await systemClock().sleep(100);
    }
    expect([...positions].filter((offset) => ![1, 3, 6].includes(offset))).toEqual([]);
    expect(errors().map(({ partition, from, to }) => [partition, from, to])).toEqual([[0, 3, 6]]);
    expect(outOfRange).toEqual([0]);
    finish();
    await eventually('all records are committed', async () => (await committed()) === 7, WITHIN_MS);
    expect(seen.filter((value) => value.startsWith('lost'))).toEqual([]);
  }, 90_000);
});
