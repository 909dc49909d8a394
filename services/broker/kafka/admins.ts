import type { Admin, Kafka } from 'kafkajs';
import type { Clock } from '../../runtime/clock.ts';
import { type Cluster, clusterOf } from './kafkajs-cluster.ts';
import { SharedConnection } from './shared-connection.ts';

/** Offsets by topic and partition. */
export type Offsets = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Partitions of one topic. */
export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/** Questions to the cluster. */
export class Admins {
  readonly #admin: SharedConnection<Admin>;
  /** For what kafkajs's admin asks one topic at a time, or with more requests than it takes. */
  readonly #cluster: SharedConnection<Cluster>;
  /** Questions that are asked at the same time share one answer. */
  readonly #asking = new Map<string, Promise<unknown>>();

  constructor(kafka: Kafka, clock: Clock) {
    this.#admin = new SharedConnection({
      clock,
      connect: async () => {
        const admin = kafka.admin({ retry: { retries: 2, initialRetryTime: 200 } });
        await admin.connect();
        return admin;
      },
      disconnect: (admin) => admin.disconnect(),
    });
    this.#cluster = new SharedConnection({
      clock,
      connect: async () => {
        const cluster = clusterOf(kafka);
        await cluster.connect();
        return cluster;
      },
      disconnect: (cluster) => cluster.disconnect(),
    });
  }

  /** Asks, a few times over: leaders move, and topics made a moment ago have none. Rejects when that did not help. */
  ask<Answer>(question: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    return this.#admin.ask(question);
  }

  /** Sends further questions over new connections. Questions that are under way go on waiting. */
  renew(): void {
    this.#admin.renew();
    this.#cluster.renew();
  }

  /** The offset after the newest record of every partition. One request to each broker. */
  endsOf(topics: readonly string[]): Promise<Offsets> {
    return this.#offsets(
      topics.map((topic) => ({ topic, partitions: null })),
      false,
    );
  }

  endsOfPartitions(topics: readonly TopicPartitions[]): Promise<Offsets> {
    return this.#offsets(topics, false);
  }

  /** The oldest record's offset of every partition. One request to each broker. */
  startsOf(topics: readonly string[]): Promise<Offsets> {
    return this.#offsets(
      topics.map((topic) => ({ topic, partitions: null })),
      true,
    );
  }

  /** The oldest record's offset and the one after the newest, by partition. */
  offsetsOf(topic: string): Promise<ReadonlyMap<number, { readonly low: number; readonly high: number }>> {
    return this.#shared(`offsets ${topic}`, async (admin) => {
      const offsets = await admin.fetchTopicOffsets(topic);
      return new Map(
        offsets.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]),
      );
    });
  }

  async boundsOf(topic: string, partition: number): Promise<{ readonly low: number; readonly high: number }> {
    const bounds = (await this.offsetsOf(topic)).get(partition);
    if (!bounds) throw new Error(`topic ${topic} has no partition ${partition}`);
    return bounds;
  }

  /** What a group committed for a topic, by partition; partitions without a commit are left out. */
  commitsOf(
    groupId: string,
    topic: string,
  ): Promise<ReadonlyMap<number, { readonly offset: number; readonly metadata: string | null }>> {
    return this.#shared(`commits ${groupId} ${topic}`, async (admin) => {
      const answers = await admin.fetchOffsets({ groupId, topics: [topic] });
      const partitions = answers.find((answer) => answer.topic === topic)?.partitions ?? [];
      const committed = partitions.filter(({ offset }) => Number(offset) >= 0);
      return new Map(
        committed.map(({ partition, offset, metadata }) => [partition, { offset: Number(offset), metadata }]),
      );
    });
  }

  async committedOf(
    groupId: string,
    topic: string,
    partition: number,
  ): Promise<{ readonly offset: number; readonly metadata: string | null }> {
    return (await this.commitsOf(groupId, topic)).get(partition) ?? { offset: -1, metadata: null };
  }

  async close(): Promise<void> {
    await Promise.all([this.#admin.close(), this.#cluster.close()]);
  }

  /** `partitions`: null = all. */
  async #offsets(
    asked: readonly { readonly topic: string; readonly partitions: readonly number[] | null }[],
    fromBeginning: boolean,
  ): Promise<Offsets> {
    if (asked.length === 0) return new Map();
    const answers = await this.#cluster.ask(async (cluster) => {
      await cluster.addMultipleTargetTopics(asked.map(({ topic }) => topic));
      await cluster.refreshMetadataIfNecessary();
      return cluster.fetchTopicsOffset(
        asked.map(({ topic, partitions }) => ({
          topic,
          partitions: (partitions ?? allOf(cluster, topic)).map((partition) => ({ partition })),
          fromBeginning,
        })),
      );
    });
    return new Map(
      answers.map(({ topic, partitions }) => [
        topic,
        new Map(partitions.map(({ partition, offset }) => [partition, Number(offset)])),
      ]),
    );
  }

  #shared<Answer>(name: string, question: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    const asking = this.#asking.get(name) as Promise<Answer> | undefined;
    if (asking) return asking;
    const answer = this.ask(question).finally(() => this.#asking.delete(name));
    this.#asking.set(name, answer);
    return answer;
  }
}

function allOf(cluster: Cluster, topic: string): number[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
}
