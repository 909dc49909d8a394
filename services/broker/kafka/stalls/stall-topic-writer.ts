import { Kafka, logLevel } from 'kafkajs';
import type { StallEntry } from '../../../domain/stalls/stall.ts';
import { connectionOf, type KafkaAccess } from '../../../kafka-client/client/access.ts';

export interface StallTopicData {
  readonly access: KafkaAccess;
  readonly topic: string;
}

const CONNECTION_MS_MAX = 3000;
const REQUEST_MS_MAX = 5000;
const ALL_IN_SYNC = -1;

/**
 * Appends an entry to the topic of stalls; durable when it resolves. Run by the watchdog's thread, whose connection is its
 * own and is opened for this one record.
 */
export async function writeStall({ access, topic }: StallTopicData, entry: StallEntry): Promise<void> {
  const kafka = new Kafka({
    ...connectionOf(access),
    connectionTimeout: CONNECTION_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    logLevel: logLevel.NOTHING,
  });
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const messages = [{ partition: 0, value: JSON.stringify(entry) }];
  await producer.send({ topic, acks: ALL_IN_SYNC, messages });
  await producer.disconnect().catch(() => {});
}
