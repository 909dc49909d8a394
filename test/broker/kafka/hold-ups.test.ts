/** Guarantee: a part that cannot continue delays no other, and is reported. */
import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KafkaRecords } from '../../../services/broker/kafka/registry/records.ts';
import { SchemaRegistry } from '../../../services/broker/kafka/registry/registry.ts';
import { KnownSchemas } from '../../../services/broker/kafka/registry/registry-schemas.ts';
import { DelayedFeed } from '../../../services/broker/kafka/streams/delayed-feed.ts';
import { Commits } from '../../../services/kafka-client/consumer/commits.ts';
import { Partition } from '../../../services/kafka-client/consumer/partition.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { startFakeRegistry } from '../../support/kafka/fake-registry.ts';
import { kafkaInstallation } from '../../support/kafka/installation.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { anEvent, aTask, routed } from '../../support/records/broker-records.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

function linesOf(level: 'info' | 'warn') {
  const lines: { readonly msg: string; readonly [field: string]: unknown }[] = [];
  return { lines, log: createLogger(level, { write: (line) => void lines.push(JSON.parse(line)) }) };
}

describe('delayed tasks', () => {
  it('of a tier whose consumer is out of its group do not hold up due ones of other tiers', () => {
    const clock = new SimulatedClock();
    const task = { ...aTask(), dueAt: 0 };
    const feed = new DelayedFeed({
      records: { isKnown: () => true } as unknown as KafkaRecords,
      clock,
      time: { isKnown: true, now: () => clock.now(), toClock: (at) => at },
      decode: () => task,
      closing: new AbortController().signal,
    });
    const record = (offset: number) => ({
      partition: new Partition('retry', 0),
      offset,
      key: null,
      value: null,
      timestamp: 0,
      headers: {},
      bytes: 0,
    });
    const out = { isTrusted: false, done: () => {} };
    const healthy = { isTrusted: true, done: () => {} };
    const add = (offset: number, due: number, tier: typeof out) =>
      feed.add(record(offset), due, { earliest: due, latest: due }, tier);
    add(0, clock.now() - 1000, out);
    for (let offset = 1; offset <= 3; offset += 1) add(offset, clock.now() - offset, healthy);
    const taken = () => Array.from({ length: 4 }, () => feed.take()?.record.offset);
    expect(taken()).toEqual([3, 2, 1, undefined]);
    out.isTrusted = true;
    expect(feed.take()?.record.offset).toBe(0);
    expect(feed.nextDue).toBeUndefined();
  });
});

/** Returns the commits of a partition with one finished record, and what they log. */
function aCommit() {
  const clock = new SimulatedClock();
  const { lines, log } = linesOf('info');
  const partition = new Partition('deliver', 0);
  partition.start({ offset: 5, windowStart: 5, done: new Set(), topicId: null, lost: null }, 0);
  const commits = new Commits({
    clock,
    log,
    topic: 'deliver',
    groupId: 'wh.deliver',
    partitions: () => [partition],
  });
  return { clock, commits, lines };
}

describe('commits that always fail', () => {
  it('are logged once, with the missing right, and again when they succeed', async () => {
    const { commits, lines } = aCommit();
    const refusal = Object.assign(new Error('Not authorized to access group'), {
      type: 'GROUP_AUTHORIZATION_FAILED',
    });
    commits.sendBy(() => Promise.reject(refusal));
    for (let times = 0; times < 5; times += 1) await commits.commit();
    expect(lines.map(({ msg, groupId }) => [groupId, msg])).toEqual([
      ['wh.deliver', expect.stringContaining('the Kafka user needs READ on the group and on the topic')],
    ]);
    commits.sendBy(() => Promise.resolve());
    await commits.commit();
    expect(lines.at(-1)?.msg).toBe('offset commits succeed again');
  });

  it.each([
    ['OFFSET_METADATA_TOO_LARGE', 'offset.metadata.max.bytes'],
    ['UNKNOWN_MEMBER_ID', 'the process joins the group again by itself'],
    ['NOT_COORDINATOR_FOR_GROUP', 'the brokers have to answer'],
  ])('are logged with what helps against %s', async (type, remedy) => {
    const { clock, commits, lines } = aCommit();
    commits.sendBy(() => Promise.reject(Object.assign(new Error('refused'), { type })));
    await commits.commit();
    await clock.advance(20_000);
    await commits.commit();
    const remedies = ['offset.metadata.max.bytes', 'joins the group again', 'the brokers have to answer'];
    expect(lines).toHaveLength(1);
    expect(lines[0]?.msg).toContain(remedy);
    expect(remedies.filter((one) => lines[0]?.msg.includes(one))).toHaveLength(1);
  });

  it('are not logged while a rebalance may be the cause', async () => {
    const { clock, commits, lines } = aCommit();
    commits.sendBy(() => Promise.reject(new Error('The group is rebalancing')));
    await commits.commit();
    expect(lines).toEqual([]);
    await clock.advance(20_000);
    await commits.commit();
    expect(lines).toHaveLength(1);
  });
});

describe('a schema that the registry does not return', () => {
  it('is named every minute, also while the registry answers for others', async () => {
    const fake = await startFakeRegistry();
    const clock = new SimulatedClock();
    const { lines, log } = linesOf('warn');
    const registry = new SchemaRegistry({ url: fake.url, auth: null, ca: null, clock });
    onTestFinished(async () => {
      await registry.close();
      await fake.down();
    });
    const schemas = new KnownSchemas(registry, clock, log);
    const ending = new AbortController();
    fake.mood = 'error';
    const learning = schemas.learn(7, ending.signal);
    const named = () =>
      lines.filter(({ msg, schemaId }) => schemaId === 7 && msg.includes('does not return a schema'));
    await eventually('the schema is named twice', async () => {
      await clock.advance(1000);
      return named().length >= 2;
    });
    expect(named().map(({ waitingMs }) => Math.floor(Number(waitingMs) / 60_000))).toEqual([1, 2]);
    ending.abort();
    await learning;
  });
});

await describeWithKafka('partitions that are added to the events topic', (kafka) => {
  it('are read within seconds', async () => {
    const installation = await kafkaInstallation(kafka);
    const broker = await installation.open();
    onTestFinished(async () => {
      await broker.close();
      await installation.dispose();
    });
    const topic = `${installation.prefix}events.in`;
    const seen: string[] = [];
    await broker.events.consume(
      ({ bytes }) => {
        seen.push(Buffer.from(bytes).toString());
        return { kind: 'routed', tasks: [], journal: routed(anEvent()) };
      },
      { inFlightMax: 10 },
    );
    await eventually('the consumer has joined its group', () => broker.status().joining.length === 0, 20_000);
    const client = new Kafka({ brokers: kafka.brokers, clientId: 'foreign', logLevel: logLevel.NOTHING });
    const admin = client.admin();
    await admin.connect();
    await admin.createPartitions({ topicPartitions: [{ topic, count: 5 }] });
    const start = systemClock().now();
    // A broker refuses the question for a partition of which it does not know yet that it leads it.
    const isLed = async () => (await admin.fetchTopicOffsets(topic).catch(() => [])).length === 5;
    await eventually('the new partitions exist and have leaders', isLed);
    await admin.disconnect();
    const producer = client.producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ value: 'in a new partition', partition: 4 }] });
    await producer.disconnect();
    await eventually(
      'the record in a new partition is read',
      () => seen.includes('in a new partition'),
      30_000,
    );
    expect(systemClock().now() - start).toBeLessThan(30_000);
  }, 90_000);
});
