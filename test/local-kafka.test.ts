/**
 * Guarantee: the Kafka that `npm run kafka:local` and the tests start serves on every node, its registry keeps its ids
 * through a crash, it comes back on its data, and nothing of it outlives the process that started it.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { type Admin, Kafka, logLevel, Partitioners } from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { whyNoLocalKafka } from '../scripts/local-kafka/cluster.ts';
import { eventually } from './support/eventually.ts';
import { createTopics, metadataOf } from './support/kafka/created-topics.ts';
import { describeWithKafka, describeWithOwnKafka, freshPrefix } from './support/kafka/suites.ts';

const JAVA_17 = `echo 'openjdk version "17.0.1"' >&2`;

const clientOf = (brokers: string[]) =>
  new Kafka({ clientId: 'local-kafka-test', brokers, logLevel: logLevel.NOTHING, retry: { retries: 30 } });

const schemaOf = (name: string) =>
  JSON.stringify({ type: 'record', name, namespace: 'test', fields: [{ name: 'a', type: 'int' }] });

/** Sends one record to each partition and reads them all back. */
async function roundTrip(kafka: Kafka, topic: string, partitions: number): Promise<string[]> {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  for (let partition = 0; partition < partitions; partition += 1) {
    await producer.send({ topic, acks: -1, messages: [{ partition, value: `to ${partition}` }] });
  }
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: `${topic}-group`, maxWaitTimeInMs: 100 });
  const read: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      read.push(String(message.value));
    },
  });
  await eventually('every record is read', () => read.length >= partitions);
  await consumer.disconnect();
  return read.sort();
}

await describeWithKafka('the Kafka that tests share', ({ brokers, registryUrl }) => {
  let admin: Admin;
  const kafka = clientOf(brokers);
  const topic = `${freshPrefix()}round-trip`;

  beforeAll(async () => {
    admin = kafka.admin();
    await admin.connect();
  });
  afterAll(async () => {
    await admin.deleteTopics({ topics: [topic] });
    await admin.disconnect();
  });

  it('keeps and returns a record on every node', async () => {
    await createTopics(admin, [{ topic, numPartitions: brokers.length }]);
    const [found] = await metadataOf(admin, [topic]);
    const leaders = new Set(found?.partitions.map(({ leader }) => leader));
    expect(leaders.size).toBe(brokers.length);
    expect(await roundTrip(kafka, topic, brokers.length)).toEqual(brokers.map((_, i) => `to ${i}`));
  });

  it('registers a schema and finds it by its id', async () => {
    const registry = new SchemaRegistry({ host: registryUrl });
    const name = `R${freshPrefix().replace('.', '')}`;
    const { id } = await registry.register(
      { type: 'AVRO' as never, schema: schemaOf(name) },
      { subject: `test.${name}` },
    );
    expect(id).toBeGreaterThan(0);
    const found = await new SchemaRegistry({ host: registryUrl }).getSchema(id);
    expect(found).toMatchObject({ name: `test.${name}` });
  });
});

await describeWithOwnKafka('a Kafka of one node', 1, (cluster) => {
  it('that is killed comes back on its port with its records, and its registry with its ids', async () => {
    const { brokers, nodes, registry, registryUrl } = cluster();
    const kafka = clientOf(brokers);
    const admin = kafka.admin();
    await admin.connect();
    await createTopics(admin, [{ topic: 'kept', numPartitions: 1 }]);
    await roundTrip(kafka, 'kept', 1);
    await admin.disconnect();
    const ids: number[] = [];
    const register = async (name: string) => {
      const { id } = await new SchemaRegistry({ host: registryUrl }).register(
        { type: 'AVRO' as never, schema: schemaOf(name) },
        { subject: `test.${name}` },
      );
      ids.push(id);
    };
    await register('First');
    await register('Second');

    const [node] = nodes;
    const pid = node?.pid;
    await Promise.all([node?.kill(), registry?.kill()]);
    expect(node?.pid).toBeUndefined();
    await Promise.all([node?.restart(), registry?.restart()]);
    expect(node?.pid).not.toBe(pid);

    await register('Second');
    await register('Third');
    expect(ids[2]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(3);
    const after = clientOf(brokers).admin();
    await after.connect();
    expect(await after.fetchTopicOffsets('kept')).toMatchObject([{ partition: 0, high: '1' }]);
    await after.disconnect();
  }, 90_000);

  it('hangs while it is paused, and continues afterwards', async () => {
    const [node] = cluster().nodes;
    node?.pause();
    await expect(node?.visibleNodes()).rejects.toThrow();
    node?.resume();
    await eventually('the node answers', async () => (await node?.visibleNodes().catch(() => []))?.length);
  });
});

describe('the reason why no local Kafka can run', () => {
  let empty: string;
  beforeEach(() => {
    empty = mkdtempSync(join(tmpdir(), 'hookrail-empty-'));
  });
  afterEach(() => rmSync(empty, { recursive: true, force: true }));
  const program = (name: string, script: string) =>
    writeFileSync(join(empty, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

  test.each([
    [
      'no Java',
      {},
      /^A local Kafka needs Java 17, but `java` cannot be run\. Install a JDK .*JAVA_HOME to one\.$/,
    ],
    [
      'an old Java',
      { java: `echo 'openjdk version "11.0.2"' >&2` },
      /^A .* `java` is version 11\. Install a JDK .*\.$/,
    ],
    [
      'no Maven',
      { java: JAVA_17 },
      /^A local .* fetched with Maven, but `mvn` cannot be run\. Install Maven 3 .*\.$/,
    ],
    [
      'no Maven Central',
      { java: JAVA_17, mvn: "echo '[ERROR] Unknown host'; exit 1" },
      /^Maven could not .* Check that Maven Central can be reached, .* Maven says: \[ERROR\] Unknown host$/,
    ],
  ])('names %s in one line', async (_, programs, message) => {
    for (const [name, script] of Object.entries(programs)) program(name, script);
    expect(await whyNoLocalKafka({ PATH: empty, XDG_CACHE_HOME: empty })).toMatch(message);
    // Nothing half fetched stays, or the next start would take it for whole.
    const cache = join(empty, 'hookrail');
    expect(existsSync(cache) ? readdirSync(cache) : []).toEqual([]);
  });
});
