import type { Admin, ITopicConfig, ITopicMetadata } from 'kafkajs';
import { eventually } from '../eventually.ts';

/**
 * Creates topics, and resolves when each partition has a leader. kafkajs's own wait (`waitForLeaders`) fails when it asks a
 * broker that does not know the topic yet.
 */
export async function createTopics(admin: Admin, topics: ITopicConfig[]): Promise<void> {
  await admin.createTopics({ topics, waitForLeaders: false });
  await metadataOf(
    admin,
    topics.map(({ topic }) => topic),
  );
}

/**
 * Returns the metadata of topics, as soon as each partition has a leader. Brokers learn of a new topic one after the other:
 * the broker that is asked may not know it yet, although another one does.
 */
export async function metadataOf(admin: Admin, names: string[]): Promise<ITopicMetadata[]> {
  let found: ITopicMetadata[] = [];
  await eventually('every partition has a leader', async () => {
    const known = await admin.fetchTopicMetadata({ topics: names }).catch(() => ({ topics: [] }));
    found = known.topics;
    const partitions = found.flatMap((topic) => topic.partitions);
    return found.length === names.length && partitions.every(({ leader }) => leader >= 0);
  });
  return found;
}
