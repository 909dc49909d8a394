import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import type { LocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import { eventually } from '../eventually.ts';

const HEALED_MS_MAX = 90_000;
const POLL_MS = 500;

/** Leaders and missing replicas of all topics whose name begins with the prefix. */
export interface ClusterState {
  /** Node id → number of partitions that it leads. */
  readonly led: ReadonlyMap<number, number>;
  /** Partitions without a leader or with replicas out of sync. */
  readonly degraded: number;
}

export function clusterState(cluster: LocalKafka, prefix: string): Promise<ClusterState> {
  return withAdmin(cluster, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata();
    const partitions = topics
      .filter(({ name }) => name.startsWith(prefix) || name === '__consumer_offsets')
      .flatMap((topic) => topic.partitions);
    const led = new Map<number, number>();
    for (const { leader } of partitions) led.set(leader, (led.get(leader) ?? 0) + 1);
    const degraded = partitions.filter(
      ({ leader, isr, replicas }) => leader < 0 || isr.length < replicas.length,
    ).length;
    return { led, degraded };
  });
}

/**
 * Resolves when every consumer group has its expected number of members and no rebalance is in progress. `membersOf`
 * returns that number by the topic's name without the prefix; undefined = any number.
 */
export async function untilSettled(
  cluster: LocalKafka,
  prefix: string,
  membersOf: (topic: string) => number | undefined,
): Promise<void> {
  const isSettled = async () => {
    await sleep(POLL_MS);
    const groups = await groupsOf(cluster, prefix).catch(() => null);
    return groups?.every(({ topic, state, members }) => {
      const expected = membersOf(topic);
      return expected === undefined || (state === 'Stable' && members === expected);
    });
  };
  await eventually('every consumer group has its members', isSettled, HEALED_MS_MAX);
  // The members learn of it a moment later.
  await sleep(POLL_MS);
}

/** Returns hookrail's consumer groups: each is named after its topic, with the prefix a second time. */
function groupsOf(cluster: LocalKafka, prefix: string) {
  return withAdmin(cluster, async (admin) => {
    const { groups } = await admin.listGroups();
    const ours = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix + prefix));
    const described = await admin.describeGroups(ours);
    return described.groups.map(({ groupId, state, members }) => ({
      topic: groupId.slice(2 * prefix.length),
      state,
      members: members.length,
    }));
  });
}

async function withAdmin<Result>(
  cluster: LocalKafka,
  use: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const running = cluster.nodes.filter(({ pid }) => pid !== undefined).map(({ broker }) => broker);
  const kafka = new Kafka({
    clientId: 'cluster-state',
    brokers: running,
    logLevel: logLevel.NOTHING,
    retry: { retries: 2 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Resolves when every partition has a leader and all its replicas in sync. */
export async function untilHealed(cluster: LocalKafka, prefix: string): Promise<void> {
  const isHealed = async () => {
    await sleep(POLL_MS);
    return (await clusterState(cluster, prefix).catch(() => null))?.degraded === 0;
  };
  await eventually('every partition has all its replicas in sync', isHealed, HEALED_MS_MAX);
}
