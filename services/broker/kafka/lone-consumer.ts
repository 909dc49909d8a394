import type { Kafka, Consumer as KafkaConsumer } from 'kafkajs';
import type { Clock } from '../../runtime/clock.ts';

const SESSION_MS = 30_000;
const HEARTBEAT_MS = 3000;
/** How long a fetch waits for something to come: also how long a change that was just missed takes to be seen. */
const MAX_WAIT_MS = 100;
/** A broker that is away must not hold up our end. */
const LEAVE_MS_MAX = 2000;

/**
 * A client that reads all of a topic for itself. The protocol's way to read without a group is not in kafkajs: this one
 * is alone in a group of its own and commits nothing, so that the group vanishes with it. Every client has a new group:
 * a member that died without leaving would hold up its successor until its session ends.
 */
export function loneConsumer(kafka: Kafka, groupId: string, maxBytesPerPartition: number): KafkaConsumer {
  return kafka.consumer({
    groupId,
    sessionTimeout: SESSION_MS,
    rebalanceTimeout: SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: MAX_WAIT_MS,
    maxBytesPerPartition,
    allowAutoTopicCreation: false,
    // Whoever uses it starts anew, in a new group.
    retry: { retries: 2, initialRetryTime: 200, maxRetryTime: 1000, restartOnFailure: async () => false },
  });
}

/** Leaves the group and lets go of the connections, within two seconds. Never rejects. */
export async function leave(client: KafkaConsumer, clock: Clock): Promise<void> {
  const limit = new AbortController();
  await Promise.race([client.disconnect().catch(() => {}), clock.sleep(LEAVE_MS_MAX, limit.signal)]);
  limit.abort();
}
