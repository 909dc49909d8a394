import type { Admin, Kafka } from 'kafkajs';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type Cluster, clusterOf, type OffsetCommit } from './kafkajs-cluster.ts';
import {
  askLeaders,
  type LeaderAnswers,
  type Offsets,
  SilentPartitions,
  type TopicPartitions,
} from './leader-questions.ts';
import { SharedConnection } from './shared-connection.ts';
import { SharedQuestions } from './shared-questions.ts';

/** The oldest record's offset, and the one after the newest. */
interface Range {
  readonly low: number;
  readonly high: number;
}

/** The protocol's values for a committer that is not a member of the group. */
const NO_MEMBER = { groupGenerationId: -1, memberId: '' };

/** Ranges by partition. */
export type Bounds = ReadonlyMap<number, Range>;

interface Commit {
  readonly offset: number;
  readonly metadata: string | null;
}

interface Asked {
  readonly topic: string;
  /** Null = all. */
  readonly partitions: readonly number[] | null;
}

/** The leader of a partition does not return its offsets, or there is none. */
export class PartitionSilent extends Error {
  override readonly name = 'PartitionSilent';
}

/** Requests to the cluster. */
export class Admins {
  readonly #admin: SharedConnection<Admin>;
  /** Used where kafkajs's admin requests one topic at a time, or needs more requests than this. */
  readonly #cluster: SharedConnection<Cluster>;
  readonly #questions = new SharedQuestions();
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

  /** Sends a request, with a few retries: leaders move, and new topics have none. Rejects when all tries failed. */
  ask<Answer>(question: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    return this.#admin.ask(question);
  }

  /** Sends further requests over new connections. Requests in progress keep waiting. */
  renew(): void {
    this.#admin.renew();
    this.#cluster.renew();
  }

  /** Returns the offset after the newest record of every partition. One request to each broker. */
  endsOf(topics: readonly string[]): Promise<Offsets> {
    return this.#offsets(allOf(topics), false);
  }

  endsOfPartitions(topics: readonly TopicPartitions[]): Promise<Offsets> {
    return this.#offsets(topics, false);
  }

  /** Returns the oldest record's offset of every partition. One request to each broker. */
  startsOf(topics: readonly string[]): Promise<Offsets> {
    return this.#offsets(allOf(topics), true);
  }

  /**
   * Returns the bounds of one partition as of now or later, even when others of the topic are silent. `anew`: asks first
   * who leads the partitions, because an earlier leader may return the bounds of long ago.
   */
  async boundsOf(topic: string, partition: number, { anew = false } = {}): Promise<Range> {
    const ask = (partitions: Asked['partitions']) => this.#bounds({ topic, partitions }, anew);
    const all = await this.#questions.ask(`bounds ${topic} ${anew}`, () => ask(null));
    // It may have been added since the topic's partitions were read.
    const isKnown = all.ranges.has(partition) || all.silent.has(partition);
    const { ranges, silent } = isKnown ? all : await ask([partition]);
    const range = ranges.get(partition);
    if (range) return range;
    throw new PartitionSilent(`${topic}/${partition}: ${silent.get(partition)}`);
  }

  /** Returns the bounds of all partitions of a topic, as of now or later. Rejects when one is silent. */
  async allBoundsOf(topic: string): Promise<Bounds> {
    const { ranges, silent } = await this.#bounds({ topic, partitions: null });
    for (const [partition, why] of silent) throw new PartitionSilent(`${topic}/${partition}: ${why}`);
    return ranges;
  }

  /** Partitions whose offsets the last request did not return, a line each. */
  get troubles(): string[] {
    return this.#silent.lines;
  }

  /** Returns a group's committed offsets of a topic as of now or later, by partition; those without one are omitted. */
  async commitsOf(groupId: string, topic: string): Promise<ReadonlyMap<number, Commit>> {
    const commits = await this.#commits(groupId, topic);
    return new Map([...commits].filter(([, { offset }]) => offset >= 0));
  }

  /** Returns a group's committed offset as of now or later; it is negative where there is none. */
  async committedOf(groupId: string, topic: string, partition: number): Promise<Commit> {
    const known = (await this.#commits(groupId, topic)).get(partition);
    if (known) return known;
    // It was added since the topic's partitions were read.
    this.#admin.renew();
    const commit = (await this.#commits(groupId, topic)).get(partition);
    if (!commit) throw new Error(`the cluster reports no partition ${partition} of ${topic}`);
    return commit;
  }

  /**
   * Commits an offset for a group without members. Rejects when it has some, and when the commit may not be durable.
   */
  async commit(groupId: string, { topic, ...partition }: OffsetCommit): Promise<void> {
    await this.#cluster.ask(async (cluster) => {
      const coordinator = await cluster.findGroupCoordinator({ groupId });
      await coordinator.offsetCommit({ ...NO_MEMBER, groupId, topics: [{ topic, partitions: [partition] }] });
    });
  }

  /** Returns the names of all groups that the Kafka user may see. */
  async groups(): Promise<ReadonlySet<string>> {
    const { groups } = await this.ask((admin) => admin.listGroups());
    return new Set(groups.map(({ groupId }) => groupId));
  }

  async close(): Promise<void> {
    await Promise.all([this.#admin.close(), this.#cluster.close()]);
  }

  /** Returns every requested partition, even without a commit: its offset is negative. */
  #commits(groupId: string, topic: string): Promise<ReadonlyMap<number, Commit>> {
    return this.#questions.ask(`commits ${groupId} ${topic}`, async () => {
      const answers = await this.ask((admin) => admin.fetchOffsets({ groupId, topics: [topic] }));
      const partitions = answers.find((answer) => answer.topic === topic)?.partitions ?? [];
      return new Map(
        partitions.map(({ partition, offset, metadata }) => [
          partition,
          { offset: Number(offset), metadata },
        ]),
      );
    });
  }

  async #offsets(asked: readonly Asked[], fromBeginning: boolean): Promise<Offsets> {
    return (await this.#ask(asked, fromBeginning)).offsets;
  }

  async #ask(asked: readonly Asked[], fromBeginning: boolean, anew = false): Promise<LeaderAnswers> {
    if (asked.length === 0) return { offsets: new Map(), silent: new Map() };
    return await this.#cluster.ask(async (cluster) => {
      await cluster.addMultipleTargetTopics(asked.map(({ topic }) => topic));
      await (anew ? cluster.refreshMetadata() : cluster.refreshMetadataIfNecessary());
      const isKnown = asked.every((one) => unknownOf(cluster, one) === undefined);
      if (!isKnown) await cluster.refreshMetadata();
      const wanted = asked.map((one) => {
        const unknown = unknownOf(cluster, one);
        if (unknown !== undefined)
          throw new Error(`the cluster reports no partition ${unknown} of ${one.topic}`);
        return { topic: one.topic, partitions: one.partitions ?? partitionsOf(cluster, one.topic) };
      });
      const answers = await askLeaders({ cluster, fromBeginning, clock: this.#clock }, wanted);
      this.#silent.report(wanted, answers.silent);
      return answers;
    });
  }

  async #bounds(asked: Asked, anew = false) {
    const ask = (fromBeginning: boolean) => this.#ask([asked], fromBeginning, anew);
    const [ends, starts] = await Promise.all([ask(false), ask(true)]);
    const { topic } = asked;
    const ranges = new Map<number, Range>();
    const silent = new Map<number, string>();
    for (const [place, why] of [...ends.silent, ...starts.silent]) {
      silent.set(Number(place.slice(topic.length + 1)), why);
    }
    for (const [partition, high] of ends.offsets.get(topic) ?? []) {
      const low = starts.offsets.get(topic)?.get(partition);
      if (low !== undefined) ranges.set(partition, { low, high });
    }
    return { ranges, silent };
  }
}

const allOf = (topics: readonly string[]): Asked[] => topics.map((topic) => ({ topic, partitions: null }));

function partitionsOf(cluster: Cluster, topic: string): number[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
}

/** Returns a requested partition that is not in the cluster's metadata. */
function unknownOf(cluster: Cluster, { topic, partitions }: Asked): number | undefined {
  const known = partitionsOf(cluster, topic);
  return (partitions ?? [0]).find((partition) => !known.includes(partition));
}
