import type { Kafka } from 'kafkajs';
import type { Clock } from '../../../process/clock.ts';
import { ConsumerClient } from './consumer-client.ts';
import { FetchPatience } from './fetch-patience.ts';
import { METADATA_MS_MAX } from './group-member.ts';

const SESSION_MS = 30_000;
const HEARTBEAT_MS = 3000;
/** The longest wait of a fetch for records while changes arrive; see FetchPatience. */
const MAX_WAIT_MS = 100;

export interface LoneConsumerOptions {
  readonly kafka: Kafka;
  readonly clock: Clock;
  readonly topic: string;
  readonly groupId: string;
  readonly bytesPerPartition: number;
}

/**
 * A client that reads all of a topic for itself. kafkajs lacks the protocol's way to read without a group: this client
 * is alone in a group of its own and commits nothing, so that the group vanishes with it. Every client has a new group:
 * a member that died without leaving would hold up its successor until its session ends.
 */
export function loneConsumer({
  kafka,
  clock,
  topic,
  groupId,
  bytesPerPartition,
}: LoneConsumerOptions): ConsumerClient {
  const patience = new FetchPatience(clock, MAX_WAIT_MS);
  const consumer = kafka.consumer({
    groupId,
    sessionTimeout: SESSION_MS,
    rebalanceTimeout: SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: patience.asMaxWait,
    maxBytesPerPartition: bytesPerPartition,
    allowAutoTopicCreation: false,
    metadataMaxAge: METADATA_MS_MAX,
    // The caller replaces it, in a new group.
    retry: { retries: 2, initialRetryTime: 200, maxRetryTime: 1000, restartOnFailure: async () => false },
  });
  return new ConsumerClient(consumer, topic, clock, patience);
}
