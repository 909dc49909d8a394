/** Guarantee: every record that ordinary producers write to the events topic is read, and none stops a partition. */
import { gzipSync } from 'node:zlib';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KafkaBroker } from '../../../services/broker/kafka/kafka-broker.ts';
import { eventually } from '../../support/eventually.ts';
import { type KafkaInstallation, kafkaInstallation } from '../../support/kafka/installation.ts';
import {
  batchOf,
  plainRecords,
  produceBatch,
  RECORDED,
  recordedSets,
} from '../../support/kafka/record-batches.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { anEvent, routed } from '../../support/records/broker-records.ts';

const WITHIN_MS = 30_000;
const ZSTD_TOPIC = { resourceType: 2, configName: 'compression.type' } as const;

await describeWithKafka('events of foreign producers', (kafka) => {
  let installation: KafkaInstallation;
  let broker: KafkaBroker;
  let client: Kafka;
  let topic: string;
  const seen: string[] = [];

  beforeAll(async () => {
    installation = await kafkaInstallation(kafka);
    topic = `${installation.prefix}events.in`;
    client = new Kafka({ brokers: kafka.brokers, clientId: 'foreign', logLevel: logLevel.NOTHING });
    await start();
  }, 60_000);

  async function start(): Promise<void> {
    // Nothing is read back: reading begins at the committed position.
    broker = await installation.open({ repeats: { windowMs: 1, idsMax: 0 } });
    await broker.events.consume(
      ({ bytes }) => {
        seen.push(Buffer.from(bytes).toString());
        return { kind: 'routed', tasks: [], journal: routed(anEvent()) };
      },
      { inFlightMax: 100 },
    );
  }

  afterAll(async () => {
    await broker?.close();
    await installation?.dispose();
  });

  const arrived = (...texts: string[]) =>
    eventually('all events are read', () => texts.every((text) => seen.includes(text)), WITHIN_MS);
  /** Returns the offset of partition 0 up to which no transaction is open. */
  const endOf = async (admin: Admin): Promise<number> =>
    Number((await admin.fetchTopicOffsets(topic)).find(({ partition }) => partition === 0)?.high);
  /** Everything is committed, up to the log's end: what the engine says of its backlog may be some seconds old. */
  async function done(): Promise<void> {
    const admin = client.admin();
    await admin.connect();
    const isCommitted = async () => {
      const end = await endOf(admin);
      // The group that reads a topic has the topic's name.
      const [read] = await admin.fetchOffsets({ groupId: topic, topics: [topic] });
      const committed = read?.partitions.find(({ partition }) => partition === 0)?.offset;
      return committed === `${end}`;
    };
    await eventually('no event is left', isCommitted, WITHIN_MS);
    await admin.disconnect();
    expect(broker.status().backlog.events).toBe(0);
  }

  async function sendOne(text: string): Promise<void> {
    const producer = client.producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ value: text, partition: 0 }] });
    await producer.disconnect();
  }

  it.each(Object.keys(recordedSets))(
    'compressed with %s are read, and so are those after them',
    async (name) => {
      const before = seen.length;
      await produceBatch(client, topic, recordedSets[name] as Buffer);
      await sendOne(`after ${name}`);
      await arrived(`after ${name}`);
      expect(seen.length - before).toBe(RECORDED + 1);
    },
    60_000,
  );

  it('in transactions are read once committed, never when aborted, and nothing is left in the end', async () => {
    let producers = 0;
    /** The coordinator writes the marker after it has answered the producer. */
    const markerBehind = async (offset: number) => {
      const admin = client.admin();
      await admin.connect();
      const isWritten = async () => (await endOf(admin)) > offset + 1;
      await eventually('the marker is written', isWritten, WITHIN_MS);
      await admin.disconnect();
    };
    const tryTransaction = async (text: string, end: 'commit' | 'abort') => {
      producers += 1;
      const transactionalId = `${topic} ${producers}`;
      const options = { transactionalId, maxInFlightRequests: 1, idempotent: true, transactionTimeout: 5000 };
      const producer = client.producer(options);
      try {
        await producer.connect();
        const transaction = await producer.transaction();
        const [sent] = await transaction.send({ topic, messages: [{ value: text, partition: 0 }] });
        await transaction[end]();
        await markerBehind(Number(sent?.baseOffset));
        return true;
      } catch {
        return false;
      } finally {
        await producer.disconnect();
      }
    };
    // This client counts its sequence numbers wrongly where brokers ask it to repeat a request: then another one writes.
    const inTransaction = (text: string, end: 'commit' | 'abort') =>
      eventually('the transaction has ended', () => tryTransaction(text, end), WITHIN_MS);
    await inTransaction('committed', 'commit');
    await inTransaction('aborted', 'abort');
    await sendOne('in between');
    await inTransaction('aborted too', 'abort');
    await inTransaction('committed too', 'commit');
    await arrived('committed', 'in between', 'committed too');
    // A record and a marker at the end of the log.
    await done();
    // Nothing but markers and aborted records at the end of the log.
    await inTransaction('aborted at last', 'abort');
    await done();
    await sendOne('after the last transaction');
    await arrived('after the last transaction');
    // Reading begins at an aborted record, and the same answer has records behind it.
    await done();
    await broker.close();
    await inTransaction('aborted while nothing reads', 'abort');
    await sendOne('while nothing reads');
    await start();
    await arrived('while nothing reads');
    await done();
    expect(seen.filter((text) => text.startsWith('aborted'))).toEqual([]);
    expect(seen.filter((text) => text === 'committed')).toEqual(['committed']);
  }, 90_000);

  it('with a compressed bomb among them are still read, and the bomb is quarantined with its place and cause', async () => {
    const values = [Buffer.alloc(40 * 1024 * 1024)];
    await produceBatch(
      client,
      topic,
      batchOf([Buffer.alloc(1)], { codec: 1, records: gzipSync(plainRecords(values)) }),
    );
    await sendOne('after the bomb');
    await arrived('after the bomb');
    await done();
    const found = await broker.quarantine.list({ limit: 10 });
    expect(found.map(({ record }) => record)).toMatchObject([
      {
        reason: 'too_large',
        detail: expect.stringMatching(
          /^offset \d+: the batch cannot be decompressed with gzip: it decompresses to more than 524288 bytes$/,
        ),
        origin: { topic, partition: 0 },
      },
    ]);
  }, 90_000);

  it('are read from a topic that the brokers compress, and from a compressed topic of hookrail', async () => {
    const admin = client.admin();
    await admin.connect();
    const topics = [
      topic,
      ...['deliver', 'journal', 'quarantine'].map((name) => `${installation.prefix}${name}`),
    ];
    const configEntries = [{ name: ZSTD_TOPIC.configName, value: 'zstd' }];
    await admin.alterConfigs({
      validateOnly: false,
      resources: topics.map((name) => ({ type: ZSTD_TOPIC.resourceType, name, configEntries })),
    });
    await admin.disconnect();
    await sendOne('on a compressed topic');
    await arrived('on a compressed topic');
    await done();
    expect(await broker.quarantine.list({ limit: 10 })).toHaveLength(1);
  }, 60_000);
});
