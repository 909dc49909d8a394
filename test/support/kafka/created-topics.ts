import type { Admin, ITopicConfig } from 'kafkajs';
import { eventually } from '../eventually.ts';

/**
 * Creates topics, and resolves when each partition has a leader. kafkajs's own wait (`waitForLeaders`) fails when it asks a
 * broker that does not know the topic yet.
 */
export async function createTopics(admin: Admin, topics: ITopicConfig[]): Promise<void> {
  await admin.createTopics({ topics, waitForLeaders: false });
  const names = topics.map(({ topic }) => topic);
  await eventually('every partition has a leader', async () => {
    const known = await admin.fetchTopicMetadata({ topics: names }).catch(() => ({ topics: [] }));
    const partitions = known.topics.flatMap((topic) => topic.partitions);
    return known.topics.length === names.length && partitions.every(({ leader }) => leader >= 0);
  });
}
