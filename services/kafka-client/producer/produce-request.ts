import { type Brokers, produceResponse } from '../client/kafkajs-brokers.ts';
import type { Protocol } from '../client/kafkajs-cluster.ts';
import { type BatchedRecord, type MeasuredBatch, measureBatch, writeBatch } from './record-batch.ts';
import type { OutgoingRecord } from './record-sender.ts';

const PRODUCE = 0;
const VERSION = 7;
const ALL_REPLICAS = -1;
/** The longest wait of the broker for its replicas, milliseconds. */
const ACK_MS = 30_000;

/** A broker's response for a record: its position, or the error code of its partition. */
export type Produced = AppendedRecord | { readonly errorCode: number };

export interface AppendedRecord {
  readonly offset: number;
  /** LogAppendTime; −1 where the topic uses the sender's time. */
  readonly appendedAt: number;
}

/** The records of one request for one partition; joined records are one here. */
interface Group {
  readonly topic: string;
  readonly partition: number;
  readonly records: BatchedRecord[];
  /** The last record, while others may join it. */
  open: { readonly value: Buffer[]; bytes: number; count: number } | null;
}

/** The most bytes of a joined record. */
const JOINED_BYTES_MAX = 128 * 1024;

/**
 * Sends records to the broker that leads their partitions, in one request, and returns its response for each, in order.
 * Rejects when the broker cannot be reached or leaves a partition out of its response: then the outcome is unknown.
 */
export async function produce(
  cluster: Brokers,
  leader: number,
  records: readonly OutgoingRecord[],
  timestamp: number,
): Promise<Produced[]> {
  const topics: Topics = new Map();
  const slots = records.map((record) => place(topics, record));
  const answer = await cluster.send(leader, protocolOf(topics, timestamp));
  const firsts = new Map<Group, Produced>();
  for (const { topicName, partitions } of answer.topics) {
    for (const { partition, errorCode, baseOffset, logAppendTime } of partitions) {
      const group = topics.get(topicName)?.get(partition);
      if (!group) continue;
      const first = { offset: Number(baseOffset), appendedAt: Number(logAppendTime) };
      firsts.set(group, errorCode === 0 ? first : { errorCode });
    }
  }
  return slots.map(({ group, index }) => {
    const first = firsts.get(group);
    if (!first) throw new Error(`the answer leaves out partition ${group.partition} of ${group.topic}`);
    return 'errorCode' in first ? first : { offset: first.offset + index, appendedAt: first.appendedAt };
  });
}

type Topics = Map<string, Map<number, Group>>;

/** The place of a record in the request: its index within its group, alone or joined. */
interface Slot {
  readonly group: Group;
  readonly index: number;
}

function place(topics: Topics, record: OutgoingRecord): Slot {
  const { topic, partition } = record;
  let partitions = topics.get(topic);
  if (!partitions) {
    partitions = new Map();
    topics.set(topic, partitions);
  }
  let group = partitions.get(partition);
  if (!group) {
    group = { topic, partition, records: [], open: null };
    partitions.set(partition, group);
  }
  add(group, record);
  return { group, index: group.records.length - 1 };
}

function add(group: Group, { key, value, headers, joins }: OutgoingRecord): void {
  const { open } = group;
  if (open && joins && value && open.count < joins.max && open.bytes + value.length <= JOINED_BYTES_MAX) {
    joins.join(open.value, value);
    open.bytes += value.length;
    open.count += 1;
    return;
  }
  const parts = value === null ? null : [value];
  group.records.push({ key, value: parts, headers });
  group.open = parts && value && joins ? { value: parts, bytes: value.length, count: 1 } : null;
}

function protocolOf(
  topics: Topics,
  timestamp: number,
): Protocol<Awaited<ReturnType<typeof produceResponse.parse>>> {
  return {
    request: {
      apiKey: PRODUCE,
      apiVersion: VERSION,
      apiName: 'Produce',
      expectResponse: () => true,
      encode: () => {
        const buf = encode(topics, timestamp);
        return Promise.resolve({ buf, buffer: buf });
      },
    },
    response: produceResponse,
  };
}

/** Produce Request (Version: 7) => transactional_id acks timeout_ms [topic [partition records]] */
function encode(topics: Topics, timestamp: number): Buffer {
  const measured = new Map<Group, MeasuredBatch>();
  let bytes = 2 + 2 + 4 + 4;
  for (const [topic, partitions] of topics) {
    bytes += 2 + Buffer.byteLength(topic) + 4;
    for (const group of partitions.values()) {
      const batch = measureBatch(group.records);
      measured.set(group, batch);
      bytes += 4 + 4 + batch.bytes;
    }
  }
  const into = Buffer.allocUnsafe(bytes);
  let end = into.writeInt16BE(-1, 0);
  end = into.writeInt16BE(ALL_REPLICAS, end);
  end = into.writeInt32BE(ACK_MS, end);
  end = into.writeInt32BE(topics.size, end);
  for (const [topic, partitions] of topics) {
    end = into.writeInt16BE(Buffer.byteLength(topic), end);
    end += into.write(topic, end);
    end = into.writeInt32BE(partitions.size, end);
    for (const group of partitions.values()) {
      const batch = measured.get(group) as MeasuredBatch;
      end = into.writeInt32BE(group.partition, end);
      end = into.writeInt32BE(batch.bytes, end);
      end = writeBatch(batch, timestamp, into, end);
    }
  }
  return into;
}
