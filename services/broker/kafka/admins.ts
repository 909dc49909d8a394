import type { Admin, Kafka } from 'kafkajs';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type Cluster, clusterOf } from './kafkajs-cluster.ts';
import { askLeaders, type Offsets, SilentPartitions, type TopicPartitions } from './leader-questions.ts';
import { SharedConnection } from './shared-connection.ts';

/** The oldest record's offset and the one after the newest, by partition. */
export type Bounds = ReadonlyMap<number, { readonly low: number; readonly high: number }>;

/** The leader of a partition does not tell its offsets, or there is none. */
export class PartitionSilent extends Error {
  override readonly name = 'PartitionSilent';
}

/** Questions to the cluster. */
export class Admins {
  readonly #admin: SharedConnection<Admin>;
  /** For what kafkajs's admin asks one topic at a time, or with more requests than it takes. */
  readonly #cluster: SharedConnection<Cluster>;
  /** Questions that are asked at the same time share one answer. */
  readonly #asking = new Map<string, Promise<unknown>>();
  readonly #clock: Clock;
  readonly #silent: SilentPartitions;

  constructor(kafka: Kafka, clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#silent = new SilentPartitions(log);
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

  /** What is asked from now on goes over new connections. What waits for an answer goes on waiting. */
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

  /** Where one partition begins and ends; that others of the topic are silent is no hindrance. */
  async boundsOf(topic: string, partition: number): Promise<{ readonly low: number; readonly high: number }> {
    const bounds = (await this.#shared(`bounds ${topic}`, () => this.#bounds(topic))).get(partition);
    if (bounds) return bounds;
    const why = this.#silent.why(topic, partition) ?? 'the topic has no such partition';
    throw new PartitionSilent(`${topic}/${partition}: ${why}`);
  }

  /** Where all partitions of a topic begin and end, as of now or later. Rejects when one is silent. */
  async allBoundsOf(topic: string): Promise<Bounds> {
    const bounds = await this.#bounds(topic);
    const [silent] = this.#silent.linesOf(topic);
    if (silent) throw new PartitionSilent(silent);
    return bounds;
  }

  /** Partitions that could not be asked when they were asked last, a line each. */
  get troubles(): string[] {
    return this.#silent.linesOf();
  }

  /** What a group committed for a topic, by partition; partitions without a commit are left out. */
  commitsOf(
    groupId: string,
    topic: string,
  ): Promise<ReadonlyMap<number, { readonly offset: number; readonly metadata: string | null }>> {
    return this.#shared(`commits ${groupId} ${topic}`, async () => {
      const answers = await this.ask((admin) => admin.fetchOffsets({ groupId, topics: [topic] }));
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
    return await this.#cluster.ask(async (cluster) => {
      await cluster.addMultipleTargetTopics(asked.map(({ topic }) => topic));
      await cluster.refreshMetadataIfNecessary();
      const wanted = asked.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions ?? allOf(cluster, topic),
      }));
      const { offsets, silent } = await askLeaders(cluster, wanted, fromBeginning, this.#clock);
      this.#silent.told(wanted, silent);
      return offsets;
    });
  }

  async #bounds(topic: string): Promise<Bounds> {
    const [ends, starts] = await Promise.all([this.endsOf([topic]), this.startsOf([topic])]);
    const bounds = new Map<number, { readonly low: number; readonly high: number }>();
    for (const [partition, high] of ends.get(topic) ?? []) {
      const low = starts.get(topic)?.get(partition);
      if (low !== undefined) bounds.set(partition, { low, high });
    }
    return bounds;
  }

  #shared<Answer>(name: string, question: () => Promise<Answer>): Promise<Answer> {
    const asking = this.#asking.get(name) as Promise<Answer> | undefined;
    if (asking) return asking;
    const answer = question().finally(() => this.#asking.delete(name));
    this.#asking.set(name, answer);
    return answer;
  }
}

function allOf(cluster: Cluster, topic: string): number[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
}
