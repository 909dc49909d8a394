/** Questions for offsets, which only the leader of each partition answers. */
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { errorLine } from './error-line.ts';
import { NO_LEADER } from './fetch/metadata-answers.ts';
import type { Cluster } from './kafkajs-cluster.ts';

/** A leader that does not answer within this counts as one that is away. */
const ANSWER_MS_MAX = 5000;
/** Leaders move, and topics made a moment ago are not known to all brokers. */
const TRIES = 3;
const AGAIN_MS = 150;

/** Offsets by topic and partition. Partitions whose leader does not tell are left out. */
export type Offsets = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Partitions of one topic. */
export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/** The partitions asked for, by leader. */
type Leaders = ReadonlyMap<number, TopicPartitions[]>;

interface Answer {
  readonly offsets: Offsets;
  /** Why the leader of a partition does not tell, by `topic/partition`. */
  readonly silent: ReadonlyMap<string, string>;
}

/**
 * Sends one request to each leader. Leaves out the partitions of leaders that fail, also after some tries, and those that
 * have none. Rejects when there are leaders and all of them fail.
 */
export async function askLeaders(
  cluster: Cluster,
  asked: readonly TopicPartitions[],
  fromBeginning: boolean,
  clock: Clock,
): Promise<Answer> {
  if (leadersOf(cluster, asked).has(NO_LEADER)) await cluster.refreshMetadata();
  for (let tries = 1; ; tries += 1) {
    const leaders = leadersOf(cluster, asked);
    const { offsets, failures } = await askEach(cluster, leaders, fromBeginning, clock);
    if (failures.size === 0 || (tries === TRIES && offsets.size > 0)) {
      return { offsets, silent: silentOf(leaders, failures) };
    }
    if (tries === TRIES) throw [...failures.values()][0];
    await clock.sleep(AGAIN_MS);
    await cluster.refreshMetadata();
  }
}

function leadersOf(cluster: Cluster, asked: readonly TopicPartitions[]): Leaders {
  const leaders = new Map<number, TopicPartitions[]>();
  for (const { topic, partitions } of asked) {
    const wanted = new Set(partitions);
    const own = new Map<number, number[]>();
    for (const { partitionId, leader } of cluster.findTopicPartitionMetadata(topic)) {
      if (wanted.has(partitionId)) own.set(leader, [...(own.get(leader) ?? []), partitionId]);
    }
    for (const [leader, led] of own) {
      leaders.set(leader, [...(leaders.get(leader) ?? []), { topic, partitions: led }]);
    }
  }
  return leaders;
}

async function askEach(cluster: Cluster, leaders: Leaders, fromBeginning: boolean, clock: Clock) {
  const offsets = new Map<string, Map<number, number>>();
  const failures = new Map<number, unknown>();
  const ask = async ([leader, topics]: readonly [number, TopicPartitions[]]) => {
    const wanted = topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((partition) => ({ partition })),
      fromBeginning,
    }));
    try {
      for (const { topic, partitions } of await within(clock, cluster.fetchTopicsOffset(wanted))) {
        const known = offsets.get(topic) ?? new Map<number, number>();
        for (const { partition, offset } of partitions) known.set(partition, Number(offset));
        offsets.set(topic, known);
      }
    } catch (error) {
      failures.set(leader, error);
    }
  };
  await Promise.all([...leaders].filter(([leader]) => leader !== NO_LEADER).map(ask));
  return { offsets, failures };
}

function silentOf(leaders: Leaders, failures: ReadonlyMap<number, unknown>): Map<string, string> {
  const silent = new Map<string, string>();
  for (const [leader, topics] of leaders) {
    if (leader !== NO_LEADER && !failures.has(leader)) continue;
    const why =
      leader === NO_LEADER
        ? 'it has no leader: every broker that may lead it is down; start one of them'
        : `its leader, broker ${leader}, does not answer (${errorLine(failures.get(leader))})`;
    for (const { topic, partitions } of topics) {
      for (const partition of partitions) silent.set(`${topic}/${partition}`, why);
    }
  }
  return silent;
}

async function within<T>(clock: Clock, asked: Promise<T>): Promise<T> {
  const limit = new AbortController();
  const late = clock.sleep(ANSWER_MS_MAX, limit.signal).then(() => {
    throw new Error(`no answer within ${ANSWER_MS_MAX / 1000} s`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([asked, late]);
  } finally {
    limit.abort();
    asked.catch(() => {});
  }
}

/** Partitions whose offsets nobody told when they were asked for last. Logs each when that changes. */
export class SilentPartitions {
  readonly #log: Logger;
  readonly #silent = new Map<string, { readonly topic: string; readonly why: string }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  told(asked: readonly TopicPartitions[], silent: Answer['silent']): void {
    for (const { topic, partitions } of asked) {
      for (const partition of partitions) this.#told(topic, partition, silent.get(`${topic}/${partition}`));
    }
  }

  why(topic: string, partition: number): string | undefined {
    return this.#silent.get(`${topic}/${partition}`)?.why;
  }

  /** Of one topic, or of all. */
  linesOf(topic?: string): string[] {
    const found = [...this.#silent].filter(([, one]) => topic === undefined || one.topic === topic);
    return found.map(([place, { why }]) => `${place}: ${why}`);
  }

  #told(topic: string, partition: number, why: string | undefined): void {
    const place = `${topic}/${partition}`;
    const before = this.#silent.get(place);
    if (why === before?.why) return;
    if (why === undefined) {
      this.#silent.delete(place);
      this.#log.info({ topic, partition }, 'a partition can be read again');
    } else {
      this.#silent.set(place, { topic, why });
      this.#log.warn({ topic, partition }, `a partition cannot be read; others go on: ${why}`);
    }
  }
}
