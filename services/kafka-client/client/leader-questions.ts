/** Requests for offsets, which only the leader of each partition can answer. */
import { errorLine } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { NO_LEADER } from '../fetch/metadata-answers.ts';
import type { Cluster } from './kafkajs-cluster.ts';
import { ANSWER_MS_MAX } from './silent-brokers.ts';
import { Late, within } from './within.ts';

/** Leaders move, and not all brokers know a new topic yet. */
const TRIES = 3;
const AGAIN_MS = 150;

/** Offsets by topic and partition. Partitions whose leader returns none are omitted. */
export type Offsets = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Partitions of one topic. */
export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/** The requested partitions, by leader. */
type Leaders = ReadonlyMap<number, TopicPartitions[]>;

/** Every requested partition is in one of the two. */
export interface LeaderAnswers {
  readonly offsets: Offsets;
  /** Why a partition has no offset, by `topic/partition`. */
  readonly silent: ReadonlyMap<string, string>;
}

interface Question {
  readonly cluster: Cluster;
  readonly fromBeginning: boolean;
  readonly clock: Clock;
}

/**
 * Sends one request to each leader. Omits the partitions of leaders that fail, after some tries, and those without a
 * leader. Rejects when there are leaders and all of them fail.
 */
export async function askLeaders(
  question: Question,
  asked: readonly TopicPartitions[],
): Promise<LeaderAnswers> {
  const { cluster, clock } = question;
  const offsets = new Map<string, Map<number, number>>();
  if (leadersOf(cluster, asked).has(NO_LEADER)) await cluster.refreshMetadata();
  for (let tries = 1; ; tries += 1) {
    const leaders = leadersOf(cluster, missing(asked, offsets));
    const failures = await askEach(question, leaders, offsets);
    // A leader that was late would be as late again.
    const mayHelp = ([leader, topics]: readonly [number, TopicPartitions[]]) =>
      leader !== NO_LEADER && !(failures.get(leader) instanceof Late) && missing(topics, offsets).length > 0;
    if (tries === TRIES || ![...leaders].some(mayHelp)) {
      if (offsets.size === 0 && failures.size > 0) throw [...failures.values()][0];
      return { offsets, silent: silentOf(leaders, failures, offsets) };
    }
    await clock.sleep(AGAIN_MS);
    await cluster.refreshMetadata();
  }
}

function missing(asked: readonly TopicPartitions[], offsets: Offsets): TopicPartitions[] {
  const left = asked.map(({ topic, partitions }) => {
    const known = offsets.get(topic);
    return {
      topic,
      partitions: known ? partitions.filter((partition) => !known.has(partition)) : partitions,
    };
  });
  return left.filter(({ partitions }) => partitions.length > 0);
}

function leadersOf(cluster: Cluster, asked: readonly TopicPartitions[]): Leaders {
  const leaders = new Map<number, TopicPartitions[]>();
  for (const { topic, partitions } of asked) {
    const known = new Map(
      cluster.findTopicPartitionMetadata(topic).map(({ partitionId, leader }) => [partitionId, leader]),
    );
    const leaderOf = (partition: number) => known.get(partition) ?? NO_LEADER;
    for (const leader of new Set(partitions.map(leaderOf))) {
      const led = partitions.filter((partition) => leaderOf(partition) === leader);
      leaders.set(leader, [...(leaders.get(leader) ?? []), { topic, partitions: led }]);
    }
  }
  return leaders;
}

/** Adds the returned offsets to `offsets`. Returns the failures, by leader. */
async function askEach(
  { cluster, fromBeginning, clock }: Question,
  leaders: Leaders,
  offsets: Map<string, Map<number, number>>,
): Promise<ReadonlyMap<number, unknown>> {
  const failures = new Map<number, unknown>();
  const ask = async ([leader, topics]: readonly [number, TopicPartitions[]]) => {
    const wanted = topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((partition) => ({ partition })),
      fromBeginning,
    }));
    try {
      for (const { topic, partitions } of await within(
        clock,
        ANSWER_MS_MAX,
        cluster.fetchTopicsOffset(wanted),
      )) {
        const known = offsets.get(topic) ?? new Map<number, number>();
        for (const { partition, offset } of partitions) known.set(partition, Number(offset));
        if (known.size > 0) offsets.set(topic, known);
      }
    } catch (error) {
      failures.set(leader, error);
    }
  };
  await Promise.all([...leaders].filter(([leader]) => leader !== NO_LEADER).map(ask));
  return failures;
}

function silentOf(
  leaders: Leaders,
  failures: ReadonlyMap<number, unknown>,
  offsets: Offsets,
): Map<string, string> {
  const silent = new Map<string, string>();
  for (const [leader, topics] of leaders) {
    const failure = failures.has(leader)
      ? errorLine(failures.get(leader))
      : 'it no longer leads the partition';
    const why =
      leader === NO_LEADER
        ? 'it has no leader: every broker that could lead it is down; start one of them'
        : `its leader, broker ${leader}, does not answer (${failure})`;
    for (const { topic, partitions } of missing(topics, offsets)) {
      for (const partition of partitions) silent.set(`${topic}/${partition}`, why);
    }
  }
  return silent;
}

/** Partitions without an offset in the last responses. Logs each when that changes. */
export class SilentPartitions {
  readonly #log: Logger;
  readonly #silent = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  report(asked: readonly TopicPartitions[], silent: LeaderAnswers['silent']): void {
    for (const { topic, partitions } of asked) {
      for (const partition of partitions)
        this.#reportOne(topic, partition, silent.get(`${topic}/${partition}`));
    }
  }

  get lines(): string[] {
    return [...this.#silent].map(([place, why]) => `${place}: ${why}`);
  }

  #reportOne(topic: string, partition: number, why: string | undefined): void {
    const place = `${topic}/${partition}`;
    const before = this.#silent.get(place);
    if (why === before) return;
    if (why === undefined) {
      this.#silent.delete(place);
      this.#log.info({ topic, partition }, 'a partition can be read again');
    } else {
      this.#silent.set(place, why);
      this.#log.warn({ topic, partition }, `a partition cannot be read; the others continue: ${why}`);
    }
  }
}
