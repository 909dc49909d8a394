/**
 * Guarantee: a partition that cannot be written (no leader, a broker that hangs, a missing right, a record that is refused)
 * holds back its own records and nothing else. A broker's answers are played; no brokers are needed.
 */
import { expect, it, onTestFinished } from 'vitest';
import type { Brokers } from '../../../services/kafka-client/client/kafkajs-brokers.ts';
import { KafkaProducer } from '../../../services/kafka-client/producer/producer.ts';
import { RecordRefused, SenderClosed } from '../../../services/kafka-client/producer/record-sender.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const TOPIC_AUTHORIZATION_FAILED = 29;
const MESSAGE_TOO_LARGE = 10;

/** What a leader says; it may also be silent. */
type Answer = (count: number) => number | Promise<never>;

/** A producer for two topics of one partition, led by the brokers 1 and 2, which say what they are told to. */
async function aProducer() {
  const clock = new SimulatedClock();
  const leaders = new Map([
    ['one/0', 1],
    ['two/0', 2],
  ]);
  const answers = new Map<number, Answer>();
  let requests = 0;
  const send = async (node: number) => {
    requests += 1;
    const errorCode = (await answers.get(node)?.(requests)) ?? 0;
    const partitions = [{ partition: 0, errorCode, baseOffset: '0', logAppendTime: '-1' }];
    return { topics: [{ topicName: node === 1 ? 'one' : 'two', partitions }] };
  };
  const cluster = {
    leadersOf: async () => new Map(leaders),
    send,
    drop: () => {},
    disconnect: async () => {},
  } as unknown as Brokers;
  const errors: string[] = [];
  const log = createLogger('error', { write: (line) => void errors.push(JSON.parse(line).msg) });
  const partitions = new Map([
    ['one', 1],
    ['two', 1],
  ]);
  const grant = (topic: string) => `grant ${topic}`;
  const producer = new KafkaProducer({ cluster: () => cluster, clock, log, partitions, grant });
  await producer.open();
  onTestFinished(() => producer.abandon());
  const written: string[] = [];
  const put = (topic: 'one' | 'two') => {
    const sent = producer.send({ topic, partition: 0, key: null, value: Buffer.from('x') });
    return sent.then(
      () => void written.push(topic),
      (error) => error,
    );
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** Writes a record to each of the topics, and returns what is told of them. */
  const write = (...topics: ('one' | 'two')[]) => {
    const told: unknown[] = [];
    const records = topics.map((topic) => ({ topic, partition: 0, key: null, value: Buffer.from('x') }));
    producer.write(records, { durable: () => told.push('durable'), failed: (error) => told.push(error) });
    return told;
  };
  return { producer, leaders, answers, errors, written, put, write, pass };
}

it('a partition without a leader waits, is reported, and is written once it has one', async () => {
  const { producer, leaders, written, put, pass } = await aProducer();
  leaders.delete('two/0');
  await producer.open();
  expect(producer.isPromptFor('two', 'key')).toBe(false);
  void put('two');
  for (let i = 0; i < 3; i += 1) void put('one');
  await pass(2000);
  expect(written).toEqual(['one', 'one', 'one']);
  expect(producer.troubles).toEqual([
    expect.stringContaining('two/0: 1 records wait, the partition has no leader'),
  ]);
  expect(['one', 'two'].map((topic) => producer.isPromptFor(topic, 'key'))).toEqual([true, false]);
  leaders.set('two/0', 2);
  await pass(5000);
  expect(written).toEqual(['one', 'one', 'one', 'two']);
  expect(producer.troubles).toEqual([]);
});

it('a broker that hangs holds back its own partitions only', async () => {
  const { answers, written, put, pass } = await aProducer();
  answers.set(2, () => new Promise<never>(() => {}));
  void put('two');
  await pass(100);
  void put('one');
  await pass(100);
  void put('one');
  await pass(100);
  expect(written).toEqual(['one', 'one']);
});

it('a missing right is logged once with the command, and holds back its topic until it is granted', async () => {
  const { producer, answers, errors, written, put, pass } = await aProducer();
  answers.set(2, () => TOPIC_AUTHORIZATION_FAILED);
  void put('two');
  await pass(10_000);
  void put('one');
  await pass(200);
  const line = 'the Kafka user lacks WRITE on topic two; its records wait: grant two';
  expect(errors).toEqual([line]);
  expect(producer.troubles).toEqual([line]);
  expect(['one', 'two'].map((topic) => producer.isPromptFor(topic, 'key'))).toEqual([true, false]);
  expect(written).toEqual(['one']);
  answers.delete(2);
  await pass(3000);
  expect(written).toEqual(['one', 'two']);
  expect([errors.length, producer.troubles]).toEqual([1, []]);
  expect(producer.isPromptFor('two', 'key')).toBe(true);
});

it('a record that Kafka refuses for its content is rejected, and not sent again', async () => {
  const { answers, written, put, pass } = await aProducer();
  let asked = 0;
  answers.set(2, () => {
    asked += 1;
    return asked === 1 ? MESSAGE_TOO_LARGE : 0;
  });
  const refused = put('two');
  await pass(3000);
  expect(await refused).toBeInstanceOf(RecordRefused);
  expect([asked, written]).toEqual([1, []]);
  void put('two');
  await pass(100);
  expect(written).toEqual(['two']);
});

it('of records that are written together it is told once, when all are durable', async () => {
  const { leaders, producer, write, pass } = await aProducer();
  leaders.delete('two/0');
  await producer.open();
  expect(write()).toEqual(['durable']);
  const told = write('one', 'two', 'one');
  await pass(1000);
  expect(told).toEqual([]);
  leaders.set('two/0', 2);
  await pass(5000);
  expect(told).toEqual(['durable']);
});

it('or when the first of them has failed', async () => {
  const { producer, answers, write, pass } = await aProducer();
  answers.set(2, () => MESSAGE_TOO_LARGE);
  const told = write('two', 'one', 'two');
  await pass(2000);
  expect(told).toEqual([expect.any(RecordRefused)]);
  await producer.abandon();
  expect(told).toHaveLength(1);
  expect(write('one', 'one')).toEqual([expect.any(SenderClosed)]);
});
