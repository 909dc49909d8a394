import type { RecordSender } from '../../../kafka-client/producer/record-sender.ts';
import type { Random } from '../../../process/random.ts';

const KEY = Buffer.from('hookrail.broker-time');
const GIVE_UP_MS = 10_000;

/**
 * Returns a function that writes a record whose acknowledgement contains a broker's time: a null on the quarantine
 * topic, with a key that no record there has, so that it removes nothing. Every role that reads a topic may write
 * there.
 */
export function timeQuestion(sender: RecordSender, topic: string, random: Random): () => void {
  return () => {
    // Any partition: each time perhaps another broker.
    const partition = sender.partitionOf(topic, random.uuid());
    sender.send({ topic, partition, key: KEY, value: null }, GIVE_UP_MS).catch(() => {});
  };
}
