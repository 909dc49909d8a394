/** Runs a producer on its own topic, and compares the records that it reported as durable with the log. */
import { randomUUID } from 'node:crypto';
import { type Admin, type ISocketFactory, Kafka, logLevel } from 'kafkajs';
import { brokersOf } from '../../../services/kafka-client/client/kafkajs-brokers.ts';
import { KafkaProducer } from '../../../services/kafka-client/producer/producer.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../eventually.ts';
import { freshPrefix } from '../kafka/suites.ts';
import type { TriedProducer } from './naive-producers.ts';

const READ_MS_MAX = 30_000;
const CLOSE_MS = 10_000;

/** Two replicas, so that a partition can be moved to a node without one. */
const COPIES = 2;

export interface Outcome {
  /** Acknowledged records that are not in the log. */
  readonly lost: readonly string[];
  readonly acknowledged: number;
  /** Records that are in the log more than once. */
  readonly repeated: number;
  /** Records that the producer reported as failed. */
  readonly refused: number;
}

export class ProducerTrial {
  readonly topic = `${freshPrefix()}trial`;
  readonly #brokers: readonly string[];
  readonly #admin: Admin;
  readonly #acknowledged = new Set<string>();
  #nodes: readonly number[] = [];
  #refused = 0;

  /** Creates a topic with one partition led by each node. */
  static async open(brokers: readonly string[]): Promise<ProducerTrial> {
    const trial = new ProducerTrial(brokers);
    await trial.#open();
    return trial;
  }

  private constructor(brokers: readonly string[]) {
    this.#brokers = brokers;
    this.#admin = this.client().admin();
  }

  get partitions(): number {
    return this.#nodes.length;
  }

  client(socketFactory?: ISocketFactory): Kafka {
    return new Kafka({
      brokers: [...this.#brokers],
      clientId: 'trial',
      logLevel: logLevel.NOTHING,
      ...(socketFactory ? { socketFactory } : {}),
    });
  }

  /** Wraps hookrail's own producer for the trial. */
  ourProducer(kafka: Kafka): TriedProducer {
    const partitions = new Map([[this.topic, this.partitions]]);
    const log = createLogger('silent');
    const clock = systemClock();
    const producer = new KafkaProducer({
      cluster: () => brokersOf(kafka, clock),
      clock,
      log,
      partitions,
    });
    return {
      open: () => producer.open(),
      send: ({ topic, partition, value }) =>
        producer.send({ topic, partition, key: null, value: Buffer.from(value) }),
      close: () => producer.close(CLOSE_MS),
    };
  }

  /** Sends this many records per partition at once; resolves when each was acknowledged or refused. */
  async send(producer: TriedProducer, perPartition: number, partitions = this.partitions): Promise<void> {
    const records = Array.from({ length: perPartition * partitions }, (_, i) => {
      return { topic: this.topic, partition: i % partitions, value: randomUUID() };
    });
    await Promise.all(
      records.map(async (record) => {
        try {
          await producer.send(record);
          this.#acknowledged.add(record.value);
        } catch {
          this.#refused += 1;
        }
      }),
    );
  }

  /** Moves a partition with its leader and replicas to the node that leads the next one. Producers are not notified. */
  async moveLeader(partition: number): Promise<void> {
    const leaders = await this.#leaders();
    const to = leaders.get((partition + 1) % this.partitions) ?? -1;
    const from = leaders.get(partition);
    const replicas = [to, ...this.#nodes.filter((node) => node !== to && node !== from)].slice(0, COPIES);
    const topics = [{ topic: this.topic, partitionAssignment: [{ partition, replicas }] }];
    await this.#admin.alterPartitionReassignments({ topics });
    await eventually('the partition has moved', async () => (await this.#leaders()).get(partition) === to);
  }

  /** Reads the whole log. */
  async outcome(): Promise<Outcome> {
    const times = new Map<string, number>();
    for (const value of await this.#readLog()) times.set(value, (times.get(value) ?? 0) + 1);
    return {
      lost: [...this.#acknowledged].filter((value) => !times.has(value)),
      acknowledged: this.#acknowledged.size,
      repeated: [...times.values()].filter((count) => count > 1).length,
      refused: this.#refused,
    };
  }

  async close(): Promise<void> {
    await this.#admin.deleteTopics({ topics: [this.topic] }).catch(() => {});
    await this.#admin.disconnect();
  }

  async #open(): Promise<void> {
    await this.#admin.connect();
    const { brokers } = await this.#admin.describeCluster();
    this.#nodes = brokers.map(({ nodeId }) => nodeId);
    if (this.#nodes.length <= COPIES) throw new Error(`the trial needs more than ${COPIES} brokers`);
    const replicaAssignment = this.#nodes.map((node, partition) => {
      return { partition, replicas: [node, this.#nodes[(partition + 1) % this.#nodes.length] ?? -1] };
    });
    const topics = [{ topic: this.topic, replicaAssignment }];
    await this.#admin.createTopics({ topics, waitForLeaders: false });
    await eventually('every partition has its leader', async () => {
      const leaders = await this.#leaders().catch(() => new Map<number, number>());
      return this.#nodes.every((node, partition) => leaders.get(partition) === node);
    });
  }

  async #leaders(): Promise<ReadonlyMap<number, number>> {
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [this.topic] });
    return new Map(topics[0]?.partitions.map(({ partitionId, leader }) => [partitionId, leader]));
  }

  async #readLog(): Promise<string[]> {
    const ends = await this.#admin.fetchTopicOffsets(this.topic);
    const unread = new Map(
      ends.map(({ partition, high }) => [partition, Number(high)] as const).filter(([, end]) => end > 0),
    );
    const values: string[] = [];
    if (unread.size === 0) return values;
    const consumer = this.client().consumer({ groupId: this.topic, maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topic: this.topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        values.push(message.value?.toString() ?? '');
        if (Number(message.offset) + 1 >= (unread.get(partition) ?? 0)) unread.delete(partition);
      },
    });
    await eventually('the whole log is read', () => unread.size === 0, READ_MS_MAX);
    await consumer.disconnect();
    return values;
  }
}
