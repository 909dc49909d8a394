/** Record batches as foreign producers write them, and a function that writes them to a topic unchanged. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { crc32c } from '@node-rs/crc32';
import type { Kafka } from 'kafkajs';
import { clusterOf, type Protocol } from '../../../services/kafka-client/client/kafkajs-cluster.ts';
import { measureBatch, writeBatch } from '../../../services/kafka-client/producer/record-batch.ts';

/** The response of Produce, version 7: throws when a partition was refused. */
const produceResponse: Protocol<object>['response'] = createRequire(import.meta.url)(
  'kafkajs/src/protocol/requests/produce/v7/response',
);

/** The number of records in each recorded batch: key `k0` and value `line number 0`, and so on. */
export const RECORDED = 200;

/** Record sets written by real clients, by client and codec. */
export const recordedSets: Readonly<Record<string, Buffer>> = Object.fromEntries(
  Object.entries(
    JSON.parse(readFileSync(new URL('./compressed-batches.json', import.meta.url), 'utf8')) as Record<
      string,
      string
    >,
  ).map(([name, base64]) => [name, Buffer.from(base64, 'base64')]),
);

export interface BatchOptions {
  readonly base?: number;
  readonly codec?: number;
  readonly producerId?: bigint;
  readonly isTransactional?: boolean;
  /** Makes it a control batch. */
  readonly marker?: 'commit' | 'abort';
  /** Replaces the encoded records. */
  readonly records?: Buffer;
  readonly count?: number;
}

/** Returns a batch of these values. With `codec`, `records` must hold them compressed. */
export function batchOf(
  values: readonly Buffer[],
  { base = 0, codec = 0, producerId = -1n, isTransactional = false, marker, records, count }: BatchOptions,
): Buffer {
  const key = marker ? Buffer.from([0, 0, 0, marker === 'commit' ? 1 : 0]) : null;
  const measured = measureBatch(values.map((value) => ({ key, value: [value], headers: undefined })));
  const plain = Buffer.alloc(measured.bytes);
  writeBatch(measured, Date.now(), plain, 0);
  const batch = Buffer.concat([plain.subarray(0, 61), records ?? plain.subarray(61)]);
  batch.writeBigInt64BE(BigInt(base), 0);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt16BE(codec | (isTransactional || marker ? 0x10 : 0) | (marker ? 0x20 : 0), 21);
  batch.writeBigInt64BE(producerId, 43);
  if (count !== undefined) {
    batch.writeInt32BE(count - 1, 23);
    batch.writeInt32BE(count, 57);
  }
  return withChecksum(batch);
}

/** Returns the encoded records of a batch, before compression. */
export function plainRecords(values: readonly Buffer[]): Buffer {
  return batchOf(values, {}).subarray(61);
}

export function withChecksum(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
  return batch;
}

/** Sends a batch unchanged. Rejects when the broker refuses it. */
export async function produceBatch(kafka: Kafka, topic: string, batch: Buffer): Promise<void> {
  const cluster = clusterOf(kafka);
  await cluster.connect();
  try {
    await cluster.addMultipleTargetTopics([topic]);
    const leader = cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === 0)?.leader;
    const broker = await cluster.findBroker({ nodeId: leader ?? 0 });
    const name = Buffer.from(topic);
    const head = Buffer.alloc(2 + 2 + 4 + 4 + 2);
    head.writeInt16BE(-1, 0);
    head.writeInt16BE(-1, 2);
    head.writeInt32BE(30_000, 4);
    head.writeInt32BE(1, 8);
    head.writeInt16BE(name.length, 12);
    const partition = Buffer.alloc(12);
    partition.writeInt32BE(1, 0);
    partition.writeInt32BE(0, 4);
    partition.writeInt32BE(batch.length, 8);
    const buf = Buffer.concat([head, name, partition, batch]);
    await broker.connectionPool.send({
      request: {
        apiKey: 0,
        apiVersion: 7,
        apiName: 'Produce',
        expectResponse: () => true,
        encode: () => Promise.resolve({ buf, buffer: buf }),
      },
      response: produceResponse,
    });
  } finally {
    await cluster.disconnect();
  }
}
