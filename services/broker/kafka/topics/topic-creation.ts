import type { Admin } from 'kafkajs';
import { rootOf } from '../../../kafka-client/client/client.ts';
import { KafkaUnusable } from '../explain-error.ts';
import type { PrepareOptions, TopicSpec } from './topic-spec.ts';

/** The longest wait until a new topic is visible: brokers learn of it one after the other. */
export const SEEN_WITHIN_MS = 10_000;
export const LOOK_AGAIN_MS = 200;

/**
 * Creates missing topics, until `deadline`; resolves when every topic is visible. Rejects with KafkaUnusable when that
 * is not allowed, not ours to do, or not possible. Two processes may do it at once.
 */
export async function createMissingTopics(
  admin: Admin,
  specs: readonly TopicSpec[],
  nodes: number,
  deadline: number,
  options: PrepareOptions,
): Promise<void> {
  for (;;) {
    const present = new Set(await admin.listTopics());
    const missing = specs.filter(({ topic }) => !present.has(topic));
    if (missing.length === 0) return;
    await refuseHidden(admin, missing, options);
    refuseMissing(missing, nodes, options);
    if (options.clock.now() > deadline) {
      throw new KafkaUnusable(
        `topics are not visible ${SEEN_WITHIN_MS / 1000} s after they were created: ${list(missing)}`,
      );
    }
    const isOurs = await create(admin, missing);
    if (isOurs) options.log.info({ topics: missing.map(({ topic }) => topic) }, 'topics created');
    await options.clock.sleep(LOOK_AGAIN_MS);
  }
}

/** Rejects when topics may be hidden: a topic that the Kafka user may not describe is not listed. */
async function refuseHidden(
  admin: Admin,
  missing: readonly TopicSpec[],
  { grant }: PrepareOptions,
): Promise<void> {
  const hidden: string[] = [];
  for (const { topic } of missing) {
    await admin.fetchTopicMetadata({ topics: [topic] }).catch((error: unknown) => {
      if (rootOf(error).type === 'TOPIC_AUTHORIZATION_FAILED') hidden.push(topic);
    });
  }
  const [first] = hidden;
  if (first === undefined) return;
  const granted = grant?.({ operation: 'DESCRIBE', resource: 'topic', name: first });
  throw new KafkaUnusable(
    `the Kafka user lacks DESCRIBE on ${hidden.map((topic) => `topic ${topic}`).join(', ')}: ` +
      (granted === undefined || hidden.length > 1 ? '' : `${granted}; `) +
      '`hookrail operator topics` prints all ACLs',
  );
}

const list = (specs: readonly TopicSpec[]): string => specs.map(({ topic }) => topic).join(', ');

function refuseMissing(missing: readonly TopicSpec[], nodes: number, options: PrepareOptions): void {
  const events = missing.find(({ isPlatform }) => isPlatform);
  if (events && options.environment === 'production') {
    throw new KafkaUnusable(
      `the events topic ${events.topic} is missing or hidden from the Kafka user: the platform has to create it; ` +
        'HOOKRAIL_EVENTS_TOPIC sets its name',
    );
  }
  if (!options.createTopics) {
    throw new KafkaUnusable(
      `topics are missing and HOOKRAIL_KAFKA_CREATE_TOPICS is false: ${list(missing)}; ` +
        '`hookrail operator topics` prints the commands that create them',
    );
  }
  const copies = missing[0]?.replicationFactor ?? 0;
  if (copies > nodes) {
    throw new KafkaUnusable(
      `topics are missing and cannot have ${copies} replicas on ${nodes} broker${nodes === 1 ? '' : 's'}: ` +
        'add brokers, or lower HOOKRAIL_KAFKA_REPLICATION_FACTOR',
    );
  }
}

/** Errors to retry: the controller is slow or moving. */
const ASK_AGAIN = ['REQUEST_TIMED_OUT', 'NOT_CONTROLLER'];

/** Returns whether this call created them: another process may have been first. */
async function create(admin: Admin, specs: readonly TopicSpec[]): Promise<boolean> {
  try {
    return await admin.createTopics({
      // The caller checks: kafkajs asks one broker, which may not know the topics yet, and fails.
      waitForLeaders: false,
      timeout: SEEN_WITHIN_MS,
      topics: specs.map(({ topic, partitions, replicationFactor, settings }) => ({
        topic,
        numPartitions: partitions,
        replicationFactor,
        configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
      })),
    });
  } catch (error) {
    const root = rootOf(error);
    if (ASK_AGAIN.includes(root.type ?? '')) return false;
    if (!root.type?.endsWith('_AUTHORIZATION_FAILED')) throw error;
    throw new KafkaUnusable(
      `topics are missing and the Kafka user may not create them: ${refusedOf(error).join(', ')}; ` +
        '`hookrail operator topics` prints the commands for an administrator; HOOKRAIL_KAFKA_CREATE_TOPICS=false stops hookrail from trying',
    );
  }
}

/** Returns the topics that Kafka refused: it creates the others. */
function refusedOf(error: unknown): string[] {
  const each: unknown[] =
    error instanceof Error && 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  return each
    .map(rootOf)
    .flatMap(({ type, topic }) => (type === 'TOPIC_ALREADY_EXISTS' || !topic ? [] : [topic]));
}
