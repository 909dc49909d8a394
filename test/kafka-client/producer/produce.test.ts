/**
 * The producer writes the same bytes as kafkajs; records are joined only where they may be; and an answer that leaves
 * a partition out, or refuses one, acknowledges nothing.
 */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { Kafka } from 'kafkajs';
import { describe, expect, it, test } from 'vitest';
import { type Brokers, brokersOf } from '../../../services/kafka-client/client/kafkajs-brokers.ts';
import type { Protocol } from '../../../services/kafka-client/client/kafkajs-cluster.ts';
import { produce } from '../../../services/kafka-client/producer/produce-request.ts';
import { measureBatch, writeBatch } from '../../../services/kafka-client/producer/record-batch.ts';
import type { Joining, OutgoingRecord } from '../../../services/kafka-client/producer/record-sender.ts';
import { systemClock } from '../../../services/process/clock.ts';

const require = createRequire(import.meta.url);
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0');
const KafkajsRecord = require('kafkajs/src/protocol/recordBatch/record/v0');
const produceRequest = require('kafkajs/src/protocol/requests/produce/v7/request');

const NOW = 1_700_000_000_123;
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const text = fc.string({ maxLength: 20, unit: 'grapheme' });
const record = fc.record({
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers: fc.option(fc.dictionary(text, text, { maxKeys: 3 }), { nil: undefined }),
});

test('a record batch has the same bytes as one of kafkajs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 200 }), async (records) => {
      const expected = await RecordBatch({
        partitionLeaderEpoch: -1,
        producerEpoch: -1,
        firstSequence: -1,
        firstTimestamp: NOW,
        maxTimestamp: NOW,
        lastOffsetDelta: records.length - 1,
        records: records.map((one, offsetDelta) => KafkajsRecord({ ...one, offsetDelta, timestampDelta: 0 })),
      });
      const batch = measureBatch(
        records.map(({ key, value, headers }) => ({ key, value: value && [value], headers })),
      );
      const into = Buffer.alloc(batch.bytes + 10, 0xaa);
      expect(writeBatch(batch, NOW, into, 5)).toBe(batch.bytes + 5);
      expect(into.subarray(5, -5)).toEqual(Buffer.from(expected.buffer));
    }),
    { numRuns: 300 },
  );
});

/** A cluster of one broker that answers as told, and keeps what it was asked. */
function clusterAnswering(answer: (sent: Buffer) => object) {
  const sent: Buffer[] = [];
  const send = async <Answer>({ request }: Protocol<Answer>) => {
    const { buffer } = await request.encode();
    sent.push(buffer);
    return answer(buffer) as Answer;
  };
  const cluster = { send: (_node: number, protocol: Protocol<object>) => send(protocol) };
  return { sent, cluster: cluster as unknown as Brokers };
}

/** An answer that gives partitions their first offset. */
const placed = (topics: Readonly<Record<string, Readonly<Record<number, number>>>>) => ({
  topics: Object.entries(topics).map(([topicName, partitions]) => ({
    topicName,
    partitions: Object.entries(partitions).map(([partition, offset]) => ({
      partition: Number(partition),
      errorCode: 0,
      baseOffset: `${offset}`,
      logAppendTime: '-1',
    })),
  })),
});

const of = (topic: string, partition: number, value: string, rest: Partial<OutgoingRecord> = {}) => ({
  topic,
  partition,
  key: null,
  value: Buffer.from(value),
  ...rest,
});

const joins: Joining = { max: 3, join: (parts, value) => void parts.push(value) };

describe('a produce request', () => {
  it('has the same bytes as one of kafkajs', async () => {
    const { sent, cluster } = clusterAnswering(() => placed({ a: { 1: 0 }, b: { 0: 0 } }));
    await produce(cluster, 1, [of('a', 1, 'one'), of('b', 0, 'two'), of('a', 1, 'three')], NOW);
    const message = (value: string) => ({ value: Buffer.from(value), key: null, timestamp: `${NOW}` });
    const theirs = await produceRequest({
      acks: -1,
      timeout: 30_000,
      topicData: [
        {
          topic: 'a',
          partitions: [{ partition: 1, firstSequence: -1, messages: ['one', 'three'].map(message) }],
        },
        { topic: 'b', partitions: [{ partition: 0, firstSequence: -1, messages: [message('two')] }] },
      ],
      producerEpoch: -1,
    }).encode();
    // kafkajs names leader epoch 0 where we name none: those four bytes are not under the checksum.
    const ours = Buffer.from(sent[0] ?? '');
    for (let at = ours.indexOf('ffffffff02', 0, 'hex'); at >= 0; at = ours.indexOf('ffffffff02', at, 'hex')) {
      ours.writeInt32BE(0, at);
    }
    expect(ours).toEqual(Buffer.from(theirs.buffer));
  });

  it('joins neighbouring records of a partition up to the limit, and tells each its offset', async () => {
    const { sent, cluster } = clusterAnswering(() => placed({ a: { 0: 100, 1: 7 } }));
    const records = [
      of('a', 0, 'J1', { joins }),
      of('a', 1, 'J2', { joins }),
      of('a', 0, 'J3', { joins }),
      of('a', 0, 'J4', { joins }),
      of('a', 0, 'J5', { joins }),
      of('a', 0, 'plain'),
      of('a', 0, 'J6', { joins }),
    ];
    const places = await produce(cluster, 1, records, NOW);
    expect(places.map((place) => 'offset' in place && place.offset)).toEqual([
      100, 7, 100, 100, 101, 102, 103,
    ]);
    expect(sent[0]?.includes('J1J3J4')).toBe(true);
    expect(sent[0]?.includes('J1J3J4J5')).toBe(false);
  });

  it('is not acknowledged when the answer leaves a partition out', async () => {
    const { cluster } = clusterAnswering(() => placed({ a: { 0: 5 } }));
    await expect(produce(cluster, 1, [of('a', 0, 'x'), of('a', 1, 'y')], NOW)).rejects.toThrow(
      'the answer leaves out partition 1 of a',
    );
  });
});

it('the pinned kafkajs has its connections where the producer looks for them', () => {
  expect(brokersOf(new Kafka({ brokers: ['127.0.0.1:1'] }), systemClock()).leadersOf).toBeTypeOf('function');
});
