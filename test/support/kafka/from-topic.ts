import type { IHeaders } from 'kafkajs';
import { originOf } from '../../../services/broker/kafka/quarantine/origin.ts';
import type { Quarantined } from '../../../services/domain/quarantine.ts';
import { Partition } from '../../../services/kafka-client/consumer/partition.ts';

interface Read {
  readonly topic: string;
  readonly partition?: number;
  readonly key?: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: IHeaders;
}

/** Returns a record as Kafka's quarantine keeps it: with its position, key and headers. */
export function fromTopic(
  record: Omit<Quarantined, 'bytes'>,
  { topic, partition = 2, key = null, value, headers = {} }: Read,
): Quarantined {
  const read = { partition: new Partition(topic, partition), offset: 7, timestamp: 1_700_000_000_000 };
  return {
    ...record,
    bytes: value ?? Buffer.alloc(0),
    origin: originOf({ ...read, key, value, headers }),
  };
}
